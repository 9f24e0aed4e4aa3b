import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

const CHANGELOGS = ['CHANGELOG.md', 'docs/operators-changelog.md'];
const MAX_WORDS = 1_500;

const readEntries = (path: string) => readFileSync(join(ROOT, path), 'utf8').match(/^- .*(\n {2}.*)*/gm)!;

describe.each(CHANGELOGS)('%s', (path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const headings = text.match(/^## .*/gm)!;
  const released = headings.filter((heading) => heading !== '## Unreleased');

  it('has a dated heading for each release, the newest first (VER-7)', () => {
    expect(released.length).toBeGreaterThan(0);
    for (const heading of released) expect(heading).toMatch(/^## \d+\.\d+\.\d+ - \d{4}-\d\d-\d\d$/);
    const dates = released.map((heading) => heading.slice(-10));
    expect(dates).toEqual(dates.toSorted().toReversed());
  });

  it('names what is not released first, if anything is (VER-7)', () => {
    expect(headings.indexOf('## Unreleased')).toBeLessThanOrEqual(0);
  });

  it(`has at most ${MAX_WORDS} words`, () => {
    expect(text.split(/\s+/).length, 'Shorten or merge entries.').toBeLessThanOrEqual(MAX_WORDS);
  });
});

describe('an entry of a changelog', () => {
  it('is there once', () => {
    const entries = CHANGELOGS.flatMap(readEntries);
    expect(entries.length).toBeGreaterThan(50);
    expect(entries.filter((entry, index) => entries.indexOf(entry) !== index)).toEqual([]);
  });
});

describe('the version of the package (VER-9)', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

  it('is one of Semantic Versioning', () => {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });
});

describe('deprecated operations (VER-10)', () => {
  it('are none: one that is deprecated needs Deprecation and Sunset headers', () => {
    const path = join(ROOT, 'schema/openapi.json');
    const { paths } = JSON.parse(readFileSync(path, 'utf8')) as { paths: Record<string, Record<string, object>> };
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    expect(operations.length).toBeGreaterThan(50);
    expect(operations.filter((operation) => 'deprecated' in operation)).toEqual([]);
  });
});
