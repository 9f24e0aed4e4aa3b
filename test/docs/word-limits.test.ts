import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/** Maximum words of pages together, without what commands write between markers. */
const LIMITS: [pages: string[], words: number][] = [
  [['README.md'], 750],
  [['docs/performance.md'], 1_200],
  [['docs/isolation.md'], 1_200],
  [['docs/testing.md', 'docs/proofs.md'], 2_200],
  [['docs/operations.md'], 2_500],
  [['docs/start-here.md'], 800],
];

function countWords(pages: readonly string[]): number {
  const text = pages.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n');
  const written = text.replace(/<!-- ([\w-]+):(?:begin|start) -->[\s\S]*?<!-- \1:end -->/g, '');
  return written.split(/\s+/).filter(Boolean).length;
}

describe('the documentation', () => {
  it.each(LIMITS)('is short: %s', (pages, words) => {
    expect(countWords(pages), 'Delete repetition and history; figures belong into docs/reports.').toBeLessThanOrEqual(
      words,
    );
  });

  it('has at most 30 decision records of at most 400 words', () => {
    const records = globSync('docs/decisions/[0-9]*.md', { cwd: ROOT });
    expect(records.length, 'Merge records of one subject.').toBeLessThanOrEqual(30);
    expect(records.filter((page) => countWords([page]) > 400)).toEqual([]);
  });
});
