import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import { importFolder } from '../../src/data-transfer/import.ts';
import type { Phase } from '../../src/data-transfer/import-file.ts';
import { DataTransferFixture, readSample } from './data-transfer-fixture.ts';

const fixture = new DataTransferFixture();
afterAll(() => fixture.dispose());

const [timesheet] = await readSample('timesheets');
const timesheetRow = (index: number) => ({ ...timesheet, id: `ts_a${String(index).padStart(9, '0')}` });

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the memory in use after a garbage collection, in bytes. */
function measureHeap(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('an import of a large file', () => {
  it('uses little memory and reports progress', async () => {
    const database = await fixture.createSampleDatabase();
    const folder = await fixture.createLargeFolder(25_000, (index) => ({
      ...timesheetRow(index),
      notes: `${index} `.repeat(300),
    }));
    const before = measureHeap();
    let heapGrowth = 0;
    let next = 0;
    const seen: Phase[] = [];
    const onProgress = (_file: string, rows: number, bytes: number, totalBytes: number, phase: Phase) => {
      if (seen.at(-1) !== phase) seen.push(phase);
      if (phase !== 'reading') expect([rows, bytes]).toEqual([25_000, totalBytes]);
      if (bytes < next && phase === 'reading') return;
      next = bytes + 8_000_000;
      heapGrowth = Math.max(heapGrowth, measureHeap() - before);
    };
    const { files } = await importFolder(database, folder, { onProgress });
    expect(files).toMatchObject([{ rows: 25_000, inserted: 25_000, bad: 0 }]);
    expect(next).toBeGreaterThan(50_000_000);
    expect(heapGrowth).toBeLessThan(16_000_000);
    expect(seen).toEqual(['reading', 'checking', 'writing']);
  });

  it('awaits the callback for every problem', async () => {
    const database = await fixture.createSampleDatabase();
    const folder = await fixture.createLargeFolder(100_000, (index) => ({
      ...timesheetRow(index),
      ...(index % 2 ? { hours: 'x' } : { projectId: 'proj_none' }),
    }));
    const before = measureHeap();
    let problemCount = 0;
    let heapGrowth = 0;
    const onProblem = async () => {
      if (++problemCount % 10_000 !== 0) return;
      await sleep(1);
      heapGrowth = Math.max(heapGrowth, measureHeap() - before);
    };
    const { files, committed } = await importFolder(database, folder, { onProblem });
    expect({ files, problemCount, committed }).toMatchObject({
      files: [{ rows: 100_000, bad: 100_000, inserted: 0 }],
      problemCount: 100_000,
      committed: false,
    });
    expect(heapGrowth).toBeLessThan(16_000_000);
  });
});
