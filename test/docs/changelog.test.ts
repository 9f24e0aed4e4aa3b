import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

describe('the changelog', () => {
  const headings = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').match(/^## .*/gm)!;
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
});
