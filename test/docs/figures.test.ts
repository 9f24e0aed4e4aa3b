import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { requireMarkers, writeFigures, writeRows } from '../support/figures.ts';

let folder: string;
let path: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-figures-'));
  path = join(folder, 'page.md');
});

beforeEach(() => writeFile(path, '# Page\n\n<!-- memory:begin -->\nold\n<!-- memory:end -->\n\nThe end.\n'));

afterAll(() => rm(folder, { recursive: true }));

describe('writeRows', () => {
  it('replaces the rows with the same first cell, and adds the others at the end', async () => {
    await writeFigures(path, 'memory', '\n| case | MiB |\n|------|-----|\n| a    | 1   |\n| b    | 2   |\n');
    await writeRows(path, 'memory', '| case | MiB |\n|------|-----|\n| b    | 3   |\n| c    | 4   |', '`b`, `c`');
    const cells = (await readFile(path, 'utf8')).match(/^\| [abc] .*$/gm)!.map((row) => row.replaceAll(' ', ''));
    expect(cells).toEqual(['|a|1|', '|b|3|', '|c|4|']);
    expect(await readFile(path, 'utf8')).toMatch(/Measured again on .*: `b`, `c`\./);
  });
});

describe('writeFigures', () => {
  it('replaces what is between the markers, and names the day, the machine and the revision', async () => {
    await writeFigures(path, 'memory', '\n| a |\n|---|\n', 'Each part ran for 2 s.');
    expect(await readFile(path, 'utf8')).toMatch(
      /^# Page\n\n<!-- memory:begin -->\nMeasured on \d{4}-\d\d-\d\d on \d+ processors \(.*\), Node \d+\..*\. Each part ran for 2 s\.\n\n\| a \|\n\|---\|\n<!-- memory:end -->\n\nThe end\.\n$/,
    );
  });

  it('writes the same page again when the figures are the same', async () => {
    // The page names the day.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    await writeFigures(path, 'memory', 'Some.');
    const once = await readFile(path, 'utf8');
    await writeFigures(path, 'memory', 'Some.');
    expect(await readFile(path, 'utf8')).toBe(once);
  });

  it('rejects a page without the markers and leaves it as it is', async () => {
    const before = await readFile(path, 'utf8');
    await expect(writeFigures(path, 'growth', 'Some.')).rejects.toThrow(
      `${path} needs the lines <!-- growth:begin --> and <!-- growth:end -->.`,
    );
    expect(await readFile(path, 'utf8')).toBe(before);
  });
});

describe('requireMarkers', () => {
  it('rejects markers in the wrong order, before anything is measured', async () => {
    await writeFile(path, '<!-- memory:end -->\n<!-- memory:begin -->\n');
    await expect(requireMarkers(path, 'memory')).rejects.toThrow('needs the lines');
  });
});
