import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const CONTRACT = join(ROOT, 'docs/contract');
const SELF = relative(ROOT, import.meta.filename);

/** A rule: a list item that begins with its identifier in bold. */
const RULE = /^- \*\*([A-Z]{3})-(\d+)\*\* /;

const TEXT = new Set(['.ts', '.md', '.json', '.graphql']);

interface Page {
  name: string;
  rules: { prefix: string; number: number }[];
}

const pages: Page[] = readdirSync(CONTRACT)
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => ({ name, rules: rulesOf(readFileSync(join(CONTRACT, name), 'utf8')) }));
const prefixes = [...new Set(pages.flatMap(({ rules }) => rules.map(({ prefix }) => prefix)))];
const ids = new Set(pages.flatMap(({ rules }) => rules.map(({ prefix, number }) => `${prefix}-${number}`)));

const files = ['src', 'schema', 'resolvers', 'entities', 'test', 'docs'].flatMap((folder) =>
  filesIn(join(ROOT, folder)),
);
const citations = files.filter(({ path }) => path !== SELF).flatMap(({ path, text }) => citationsIn(path, text));

function rulesOf(text: string) {
  return text.split('\n').flatMap((line) => {
    const [, prefix, number] = RULE.exec(line) ?? [];
    return prefix === undefined ? [] : [{ prefix, number: Number(number) }];
  });
}

function filesIn(folder: string): { path: string; text: string }[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesIn(path);
    return TEXT.has(extname(entry.name)) ? [{ path: relative(ROOT, path), text: readFileSync(path, 'utf8') }] : [];
  });
}

function citationsIn(path: string, text: string) {
  const citation = new RegExp(`\\b(?:${prefixes.join('|')})-\\d+\\b`, 'g');
  return [...text.matchAll(citation)].map(({ 0: id, index }) => ({ path, line: lineOf(text, index), id }));
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** Returns the numbers of the lines that cite a document by part or chapter, which the repository does not contain. */
function outsideCitationsIn(text: string): number[] {
  const document = /(?:decisions|specification)\.md\b/g;
  const part = /\bparts? \d+/gi;
  const near = (index: number) =>
    /\b(?:decisions|specification)\b/i.test(text.slice(Math.max(0, index - 80), index + 80));
  const parts = [...text.matchAll(part)].filter(({ index }) => near(index));
  return [...text.matchAll(document), ...parts].map(({ index }) => lineOf(text, index));
}

describe.each(pages)('docs/contract/$name', ({ name, rules }) => {
  it('numbers its rules from 1, without a gap, under the prefix that the table of pages names', () => {
    const table = readFileSync(join(CONTRACT, 'README.md'), 'utf8');
    const [, prefix] = new RegExp(`^\\| \\[${name}\\]\\(${name}\\) \\| ([A-Z]{3}) \\|`, 'm').exec(table) ?? [];
    expect(prefix, `docs/contract/README.md has no row for ${name}.`).toBeDefined();
    expect(rules.length).toBeGreaterThan(0);
    expect(rules).toEqual(rules.map((_, index) => ({ prefix, number: index + 1 })));
  });
});

describe('the pages of the contract', () => {
  it('have a prefix each', () => {
    expect(prefixes).toHaveLength(pages.length);
  });
});

describe('a citation of a rule', () => {
  it('names a rule that there is', () => {
    const unknown = citations.filter(({ id }) => !ids.has(id));
    expect(unknown.map(({ path, line, id }) => `${path}:${line}: docs/contract has no rule ${id}.`)).toEqual([]);
  });

  it('is in a test for each rule', () => {
    const cited = new Set(citations.filter(({ path }) => /^test\/.*\.ts$/.test(path)).map(({ id }) => id));
    const untested = [...ids].filter((id) => !cited.has(id));
    expect(untested.map((id) => `No test cites ${id}: add it to the title of the test that proves it.`)).toEqual([]);
  });
});

describe('the source and the tests', () => {
  it('cite rules, and no document outside the repository', () => {
    const outside = files
      .filter(({ path }) => path !== SELF && !path.startsWith('docs/'))
      .flatMap(({ path, text }) => outsideCitationsIn(text).map((line) => `${path}:${line}`));
    expect(outside, 'Cite the rule of docs/contract instead.').toEqual([]);
  });
});
