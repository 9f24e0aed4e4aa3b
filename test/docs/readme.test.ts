import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatSettingsTable } from '../../src/config/settings.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const pages = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Anchors that GitHub gives to the headings of a page. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('the pages', () => {
  // CONTRIBUTING.md shows files of a resource that a reader adds, docs/graphql.md one of a client, and changelogs are history.
  const OTHERS = ['CONTRIBUTING.md', 'CHANGELOG.md', 'docs/operators-changelog.md', 'docs/graphql.md'];
  it.each(pages.filter((page) => !OTHERS.includes(page)))('%s names files of the repository that exist', (page) => {
    const named = read(page).match(
      /(?<=`)(src|test|docs|entities|resolvers|schema|deploy)\/[\w./-]+\.(ts|md|json|yaml)(?=`)/g,
    );
    expect((named ?? []).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('docs/operations.md', () => {
  it('shows the settings as the code that checks them prints them', () => {
    const settings = /<!-- settings:begin -->\n([\s\S]*?)\n?<!-- settings:end -->/.exec(
      read('docs/operations.md'),
    )?.[1];
    expect(settings).toBe(formatSettingsTable());
  });
});

describe('the README', () => {
  it('has at most 750 words', () => {
    expect(read('README.md').split(/\s+/).length).toBeLessThanOrEqual(750);
  });

  it('links to every page, directly or through another page', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const [, target] of read(page).matchAll(/\]\(([^)#:]+\.md)[^)]*\)/g)) {
        reached.add(join(dirname(page), target!));
      }
    }
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });
});

describe('docs/start-here.md', () => {
  it('links to files that have what it names', () => {
    const links = [...read('docs/start-here.md').matchAll(/\[`([\w.]+)`\]\(\.\.\/([^)]+\.ts)\)/g)];
    expect(links.length).toBeGreaterThan(15);
    const missing = links.filter(([, name, path]) =>
      name!.split('.').some((part) => !new RegExp(`\\b${part}\\b`).test(read(path!))),
    );
    expect(missing.map(([, name, path]) => `${path} has no ${name}.`)).toEqual([]);
  });
});

describe('the pages of the documentation', () => {
  it.each(pages)('link to files and headings that exist: %s', (page) => {
    const wrong = [...read(page).matchAll(/\]\(([^):\s]+)\)/g)].filter(([, link]) => {
      const [path, anchor] = link!.split('#');
      const target = path === '' ? page : join(dirname(page), path!);
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
    });
    expect(wrong.map(([, link]) => link)).toEqual([]);
  });
});
