import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { moduleOf, withModules } from './support/architecture.ts';
import { findImports } from './support/imports.ts';

const ROOT = resolve(import.meta.dirname, '..');

const files = ['src', 'schema', 'resolvers', 'entities'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
);

/** The beginning of a literal with a statement that reads or writes rows. */
const SQL =
  /[`'"](?:select (?!so many)|insert into |update \S+ (?:\w+ )?set |delete from |with (?:recursive )?\w+ (?:as|\())/;

const SQL_FOLDERS = [
  // Reads, locks, totals and migrations; triggers.
  'src/database/',
  'entities/',
  // Hot paths: tokens, sign-on events, photo-report syncs.
  'src/auth/',
  'src/oauth/',
  'src/domain/attendance/',
  'src/domain/photo-reports/',
  // The event log and what is delivered from it.
  'src/domain/events/',
  'src/domain/webhooks/delivery/',
  // Figures.
  'src/domain/dashboard-figures/',
  'src/domain/request-log/',
  // Imports and exports, and records of people in whichever tables declare them.
  'src/data-transfer/',
  'src/domain/privacy/',
  // Administration of the embedded server.
  'src/dev-postgres/',
];

/** Files of a module that import one of the packages. */
function importersOf(module: string, packages: RegExp): string[] {
  return files.filter((file) => {
    if (moduleOf(file)?.name !== module) return false;
    const text = readFileSync(join(ROOT, file), 'utf8');
    return [...text.matchAll(/from '([^'.][^']*)'/g)].some(([, name]) => packages.test(name!));
  });
}

describe('the architecture', () => {
  it('has a module for every file', () => {
    expect(files.filter((file) => !moduleOf(file))).toEqual([]);
  });

  it('has one dependency direction: no file imports from a module before its own, or beside it', () => {
    const wrong = files.flatMap((file) => {
      const own = moduleOf(file)!;
      return findImports(file)
        .filter((imported) => {
          const other = moduleOf(imported)!;
          return other.name !== own.name && other.layer <= own.layer;
        })
        .map((imported) => `${own.name} -> ${moduleOf(imported)!.name}: ${file} imports ${imported}`);
    });
    expect(wrong).toEqual([]);
  });

  it('has no import cycle', () => {
    expect(cyclesIn(new Map(files.map((file) => [file, findImports(file)])))).toEqual([]);
  });

  it.each(['README.md', 'docs/architecture.md'])(
    'is what %s shows (`npx vitest run test/architecture.test.ts -u` writes it)',
    async (file) => {
      const page = join(ROOT, file);
      await expect(withModules(readFileSync(page, 'utf8'))).toMatchFileSnapshot(page);
    },
  );

  it('keeps GraphQL and HTTP out of the domain', () => {
    expect(importersOf('domain', /^(graphql|type-graphql|fastify|@apollo\/)/)).toEqual([]);
  });

  // V8 gives each such object a hidden class of its own and keeps it, with all that the accessor refers to, until a major collection.
  it('has accessors in classes only, and none in the literals of functions', () => {
    const withAccessors = files.filter((file) => /^ {4,}[gs]et \w+\(/m.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(withAccessors).toEqual([]);
  });

  it('has SQL in the folders that need it, and elsewhere in files that say why', () => {
    const unexplained = files.filter((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      return SQL.test(text) && !SQL_FOLDERS.some((folder) => file.startsWith(folder)) && !/\bSQL: [a-z]/i.test(text);
    });
    expect(unexplained).toEqual([]);
  });

  it('reads the environment in one file', () => {
    const readers = files.filter((file) => readFileSync(join(ROOT, file), 'utf8').includes('process.env'));
    // The second file passes the environment to PostgreSQL's programs and reads no setting from it.
    expect(readers).toEqual(['src/config.ts', 'src/dev-postgres/postmaster.ts']);
  });
});

/** Import cycles, each as `a.ts -> b.ts -> a.ts`; imports of types alone are left out of it by the caller. */
function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const cycles: string[] = [];
  const finished = new Set<string>();
  const path: string[] = [];
  const follow = (file: string): void => {
    const start = path.indexOf(file);
    if (start >= 0) cycles.push([...path.slice(start), file].join(' -> '));
    if (start >= 0 || finished.has(file)) return;
    path.push(file);
    for (const imported of graph.get(file) ?? []) follow(imported);
    path.pop();
    finished.add(file);
  };
  for (const file of graph.keys()) follow(file);
  return cycles;
}
