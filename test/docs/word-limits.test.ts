import { globSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/** Maximum words of pages together, without what commands write between markers. */
const LIMITS: [pages: string[], words: number][] = [
  [['README.md'], 750],
  [['docs/performance.md'], 1_200],
  [['docs/isolation.md'], 950],
  [['docs/testing.md', 'docs/proofs.md'], 1_800],
  [['docs/operations.md'], 1_400],
  [['docs/start-here.md'], 800],
  [globSync('docs/**/*.md', { cwd: ROOT }).filter((page) => !page.startsWith('docs/reports/')), 45_000],
];

function countWords(pages: readonly string[]): number {
  const text = pages.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n');
  const written = text.replace(/<!-- ([\w-]+):(?:begin|start) -->[\s\S]*?<!-- \1:end -->/g, '');
  return written.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

describe('the documentation', () => {
  it.each(LIMITS)('is short: %s', (pages, words) => {
    expect(countWords(pages), 'Delete repetition and history; figures belong into docs/reports.').toBeLessThanOrEqual(
      words,
    );
  });

  it('has each record in the list of records (update it with `npx vitest run test/docs/word-limits.test.ts -u`)', async () => {
    const path = join(ROOT, 'docs/decisions/README.md');
    const [prose] = readFileSync(path, 'utf8').split('<!-- records:begin -->');
    const rows = globSync('docs/decisions/[0-9]*.md', { cwd: ROOT })
      .toSorted()
      .map((page) => {
        const [title] = readFileSync(join(ROOT, page), 'utf8').split('\n', 1);
        const name = basename(page);
        return `| [${name.slice(0, 4)}](${name}) | ${title!.replace('# ', '')} |\n`;
      });
    const table = `| Record | Subject |\n|---|---|\n${rows.join('')}`;
    await expect(`${prose}<!-- records:begin -->\n${table}<!-- records:end -->\n`).toMatchFileSnapshot(path);
  });

  it('has at most 30 decision records of at most 400 words', () => {
    const records = globSync('docs/decisions/[0-9]*.md', { cwd: ROOT });
    expect(records.length, 'Merge records of one subject.').toBeLessThanOrEqual(30);
    expect(records.filter((page) => countWords([page]) > 400)).toEqual([]);
  });
});
