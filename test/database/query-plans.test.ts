import { join } from 'node:path';
import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Statement } from '../../src/database/pool/pg-pipeline.ts';
import { connectWithSettings, READER_SETTINGS, WRITER_SETTINGS } from '../../src/database/pool/session-settings.ts';
import type { BatchStatement } from '../../src/database/pool/statement-runner.ts';
import { FAST_SIGN_ONS, READ_FACTS, SIGN_OFF } from '../../src/domain/attendance/record-statements.ts';
import { useService } from '../support/harness.ts';
import { recordReads } from '../support/recorded-reads.ts';
import { createSamples } from '../support/samples.ts';
import { vacuum } from '../support/vacuum.ts';

const SNAPSHOT = join(import.meta.dirname, '../samples', 'plans.txt');

const service = useService();
let statements: Map<string, BatchStatement>;

beforeAll(async () => {
  const samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
  statements = await recordReads(service, samples);
});

/** Returns the scan of each table, in the order of the plan. */
async function explainScans(client: pg.Client, { text }: Statement): Promise<string[]> {
  const { rows } = await client.query(`explain (generic_plan, costs off) ${text}`);
  return (
    rows
      .map((row) => row['QUERY PLAN'] as string)
      .filter((line) => /\bScan\b/.test(line))
      // Partitions of the event log are named by their day.
      .map((line) => line.replace(/^[\s>-]*/, '').replace(/event_\d{8}/g, 'event_DAY'))
      .filter((line) => !/^(Subquery|Function|CTE|Values) Scan|^Bitmap Heap/.test(line))
  );
}

describe('the plans of the prepared reads', () => {
  it('use indexes and no sequential scan (`-u` writes the snapshot)', async () => {
    const client = await connectWithSettings(service.databases.au1.url, READER_SETTINGS);
    await vacuum(client);
    const plans = new Map<string, string[]>();
    for (const name of [...statements.keys()].sort())
      plans.set(name, await explainScans(client, statements.get(name)!));
    // A single record or page is read in the same way as several at once: an alias may have another number, and an order of joins is free.
    const toScanSet = (scans: string[]) => scans.map((scan) => scan.replace(/_\d+$/, '')).sort();
    const differing: string[] = [];
    for (const [name, { single }] of statements) {
      const scans = toScanSet(single ? await explainScans(client, single) : plans.get(name)!);
      if (String(scans) !== String(toScanSet(plans.get(name)!))) differing.push(`${name}: ${scans}`);
    }
    // The demo's project has few inductions: its index and that of ids cost the same.
    expect(differing).toEqual([expect.stringMatching(/^InductionDetails\.all\(builderId,projectId,id\): /)]);
    await client.end();
    const sequential = [...plans].filter(([, scans]) => scans.some((scan) => scan.includes('Seq Scan')));
    expect(sequential).toEqual([]);
    const text = [...plans]
      // A function call has no scan. It is recorded only when the first read of the log happened too early.
      .filter(([, scans]) => scans.length > 0)
      .map(([name, scans]) => `${name}\n${scans.map((scan) => `  ${scan}\n`).join('')}`)
      .join('\n');
    await expect(text).toMatchFileSnapshot(SNAPSHOT);
  });
});

it('the plans of gate events find records by their identity, also those made while the tables were empty', async () => {
  const client = await connectWithSettings(service.databases.au1.url, WRITER_SETTINGS);
  await client.query('begin; truncate sign_on_event, sign_on_visit cascade');
  const scans: string[] = [];
  for (const statement of [FAST_SIGN_ONS, READ_FACTS, SIGN_OFF]) scans.push(...(await explainScans(client, statement)));
  await client.query('rollback');
  await client.end();
  const ofRecords = scans
    .map((scan) => /using (sign_on_\w+) on (\w+ [a-z]+)/.exec(scan))
    .filter((match) => match !== null);
  expect(ofRecords.map(([, index, row]) => `${row}: ${index}`).sort()).toEqual([
    'sign_on_event e: sign_on_event_source_key',
    'sign_on_event e: sign_on_event_source_key',
    'sign_on_event e: sign_on_event_waiting',
    'sign_on_event stored: sign_on_event_source_key',
    'sign_on_event waiting: sign_on_event_waiting',
    'sign_on_visit v: sign_on_visit_pkey',
    'sign_on_visit v: sign_on_visit_pkey',
  ]);
});
