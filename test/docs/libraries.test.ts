import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const MAX_PACKAGES = 600;

const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const page = readFileSync(join(ROOT, 'docs/libraries.md'), 'utf8');
const [libraries, tools] = page.split('## Of tools') as [string, string];

const listDependencies = ({
  dependencies,
  devDependencies,
  optionalDependencies,
}: Record<string, object | undefined>) => Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });

/** Returns the names in backquotes of one cell of each row. */
const readCells = (table: string, cell: number): string[][] =>
  [...table.matchAll(/^\| `.*$/gm)].map(([row]) =>
    [...row.split('|')[cell]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  );

describe('docs/libraries.md', () => {
  it('has each dependency once', () => {
    expect(readCells(libraries, 1).flat().toSorted()).toEqual(listDependencies(readJson('package.json')).toSorted());
  });

  it('has the packages of each folder with a lock file of its own', () => {
    const folders = globSync('test/**/package.json', {
      cwd: ROOT,
      exclude: (name) => name.endsWith('node_modules'),
    }).map((path) => path.slice(0, -'/package.json'.length));
    const expected = folders.map((folder) => [folder, ...listDependencies(readJson(`${folder}/package.json`))]);
    const rows = readCells(tools, 1).map(([folder], index) => [folder!, ...readCells(tools, 2)[index]!]);
    expect(rows.toSorted()).toEqual(expected.toSorted());
  });
});

describe('MikroORM', () => {
  it('has the version of `mikro-orm` in each of its packages, whose peers are exact', () => {
    const { dependencies } = readJson('package.json') as { dependencies: Record<string, string> };
    const versions = Object.entries(dependencies).filter(([name]) => name.startsWith('@mikro-orm/'));
    expect(versions).toHaveLength(4);
    expect(versions.filter(([, version]) => version !== dependencies['mikro-orm'])).toEqual([]);
  });
});

describe('npm ci', () => {
  it(`installs at most ${MAX_PACKAGES} packages on a platform`, () => {
    const { packages } = readJson('package-lock.json') as {
      packages: Record<string, { os?: string[]; cpu?: string[] }>;
    };
    const installed = Object.entries(packages).filter(
      ([path, { os, cpu }]) => path && (os ?? ['linux']).includes('linux') && (cpu ?? ['x64']).includes('x64'),
    );
    expect(installed.length, 'What only proofs need belongs into a folder of test/tools.').toBeLessThanOrEqual(
      MAX_PACKAGES,
    );
  });
});
