import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createLargePng, createScannedJpeg, createTinyWebp } from '../proof/noisy-neighbour/hostile-images.ts';
import type { Measurement } from '../proof/noisy-neighbour/measure.ts';
import { createTable, findBusyMachine, findProblems, writeTable } from '../proof/noisy-neighbour/report.ts';

const aMeasurement = (more: Partial<Measurement> = {}): Measurement => ({
  ...{
    name: 'case',
    about: 'A case',
    finding: '1a',
    requests: 240,
    failures: [],
    p50: 5,
    p99: 20,
    max: 30,
    eventLoopP99: 4,
  },
  ...{ slowest: 'builders', healthP99: 3, healthFailures: 0, peakMib: 300, peakDistinctMib: 240, exits: 0 },
  ...{ statuses: { 200: 7, 429: 3 }, megabytes: 12, problem: '', ...more },
});

describe('the verdict on a case', () => {
  it('accepts a p99 of 500 ms', () => {
    expect(findProblems(aMeasurement({ p99: 500 }))).toEqual([]);
    expect(findProblems(aMeasurement({ p99: 501 }))).toEqual(["case: the victim's p99 is 501 ms, allowed are 500"]);
  });

  it('is that the machine is too busy when the p99 of the victim alone exceeds 60 ms', () => {
    expect(findBusyMachine(aMeasurement({ p99: 60 }))).toBeNull();
    expect(findBusyMachine(aMeasurement({ p99: 61 }))).toBe(
      'the machine is too busy to measure: the p99 of the victim alone is 61 ms, allowed are 60',
    );
  });

  it('names failed requests, memory, ended processes and an attack that did not run', () => {
    const failures = [{ operation: 'photos', status: 503, milliseconds: 9, eventLoopMs: 1, problem: 'UNAVAILABLE' }];
    const problems = findProblems(
      aMeasurement({ failures, peakDistinctMib: 1_200, exits: 1, problem: 'The upload was refused.' }),
    );
    expect(problems).toEqual([
      'case: 1 requests of the victim failed: {"photos 503 UNAVAILABLE":1}',
      'case: the service took 1200 MiB, allowed are 1200',
      'case: 1 processes of the service ended',
      'case: the attack itself failed: The upload was refused.',
    ]);
  });
});

describe('the table of the proof', () => {
  it('has the rows of those cases replaced that are measured again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'builder-api-isolation-'));
    const path = join(folder, 'isolation.md');
    const rows = (p99: number, ...cases: string[]) =>
      createTable([aMeasurement({ p99: p99 - 60 }), ...cases.map((about) => aMeasurement({ about, p99 }))]);
    try {
      await writeFile(path, '<!-- noisy-neighbour:begin -->\n<!-- noisy-neighbour:end -->\n');
      await writeTable(path, rows(70, 'First | one', 'Second'), { seconds: 12 });
      const before = await readFile(path, 'utf8');
      await writeTable(path, rows(90, 'Second'), { seconds: 12, only: 'second' });
      const replaced = await readFile(path, 'utf8');
      const p99Of = (name: string) =>
        replaced
          .split('\n')
          .find((line) => line.startsWith(`| ${name}`))!
          .match(/ (\d+) ms/g)![3];
      expect([p99Of('First'), p99Of('Second'), p99Of('The victim')]).toEqual([' 70 ms', ' 90 ms', ' 10 ms']);
      expect(replaced).toContain(' Measured again on ');
      expect(replaced.split('\n')).toHaveLength(before.split('\n').length);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('replaces the text between the markers of a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'builder-api-isolation-'));
    const path = join(folder, 'isolation.md');
    const [begin, end] = ['<!-- noisy-neighbour:begin -->', '<!-- noisy-neighbour:end -->'];
    try {
      await writeFile(path, `# Isolation\n\n${begin}\nold figures\n${end}\n\nThe end.\n`);
      const table = createTable([aMeasurement(), aMeasurement({ about: 'Attack', p99: 70 })]);
      await writeTable(path, table, { seconds: 12 });
      const text = await readFile(path, 'utf8');
      expect(text).toMatch(/^# Isolation\n\n<!-- noisy-neighbour:begin -->\nMeasured on \d{4}-\d\d-\d\d on /);
      expect(text).toMatch(/\n<!-- noisy-neighbour:end -->\n\nThe end.\n$/);
      expect(text).toContain('Each attack ran for 12 s.');
      expect(text).toMatch(/\| Attack +\| +1a \| 0 of 240 \|.* 70 ms \|.* 7 × 200, 3 × 429, 12 MiB \|/);
      expect(text).not.toContain('old figures');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the images of the attacks', () => {
  it('are valid, and small for their dimensions', async () => {
    const images = [
      { bytes: createLargePng(3_000, 2_000, 1), format: 'png', width: 3_000, most: 80_000 },
      { bytes: createTinyWebp(3_000, 2_000), format: 'webp', width: 3_000, most: 40 },
      { bytes: createScannedJpeg(800, 600, 50), format: 'jpeg', width: 800, most: 3_000 },
    ];
    for (const { bytes, format, width, most } of images) {
      expect(await sharp(bytes).metadata()).toMatchObject({ format, width });
      const pixels = await sharp(bytes, { failOn: 'truncated' }).resize(1, 1).raw().toBuffer();
      expect(pixels.length).toBeGreaterThan(0);
      expect(bytes.length).toBeLessThan(most);
    }
  });
});
