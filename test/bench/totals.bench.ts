import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportFolder } from '../../src/data-transfer/export.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { Database } from '../../src/database/database.ts';
import { type BenchEnvironment, createMigratedDatabase, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { publishFigures } from './publish-figures.ts';
import { upperMedian } from './statistics.ts';
import { type Cost, connect, type MeasuredTriggers, measureVariants, toCostCells } from './trigger-costs.ts';

const REQUESTS = 60;
const WARM_UP_REQUESTS = 10;
const STATEMENTS = 400;
const IMPORTS = 5;
const IMPORTED_TIMESHEETS = 200_000;
const MIN_ROWS_PER_SECOND = 30_000;

/** Triggers that count the rows of the lists. */
const TRIGGERS: MeasuredTriggers = { pattern: '_total_(insert|update|delete)$', table: 'list_total' };

/** Measures the cost of list totals for single writes, and the rows per second of an import that maintains them. */
export async function measureTotals(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  await environment.prepare(Math.max(options.timesheets, IMPORTED_TIMESHEETS));
  const costs = [
    await measureStatement(
      environment,
      options,
      'update of the status of a timesheet',
      `update timesheet set status = case status when 'REJECTED' then 'APPROVED_1' else 'REJECTED' end where id = $1`,
    ),
    await measureStatement(
      environment,
      options,
      'update of the hours of a timesheet',
      'update timesheet set hours = hours + 1 where id = $1',
    ),
    await measureMeetings(environment, options),
  ];
  const rates = await measureImports(environment);
  const rate = upperMedian(rates);
  const table = toMarkdownTable(
    ['work', 'without totals', 'with totals', 'at most'],
    costs.map((cost) => toCostCells(cost, ['triggers'])),
  );
  const note = `Change of the time, with its 95 % confidence interval. Imports of ${IMPORTED_TIMESHEETS.toLocaleString('en')} timesheets and the rows that they refer to,
with totals: ${Math.round(rate).toLocaleString('en')} rows per second, median of ${IMPORTS} (${rates.map((importRate) => Math.round(importRate).toLocaleString('en')).join(' · ')}); at least ${MIN_ROWS_PER_SECOND.toLocaleString('en')} are required.`;
  await publishFigures(options, { costs, rates }, `${table}\n\n${note}\n`);
  if (rate < MIN_ROWS_PER_SECOND) throw new Error(`An import stores ${Math.round(rate)} rows per second.`);
}

/** Measures a committed statement that changes one timesheet, on a connection that has prepared it. */
async function measureStatement(
  { urls }: BenchEnvironment,
  { rounds }: BenchOptions,
  work: string,
  sql: string,
): Promise<Cost> {
  const client = await connect(urls.au1);
  const { rows } = await client.query('select id from timesheet limit 100');
  const run = async () => {
    const times: number[] = [];
    for (let count = 0; count < STATEMENTS; count++) {
      const startedAt = performance.now();
      await client.query({ name: work, text: sql, values: [rows[count % rows.length].id] });
      times.push(performance.now() - startedAt);
    }
    return times.slice(WARM_UP_REQUESTS);
  };
  const cost = await measureVariants(
    { url: urls.au1, triggers: TRIGGERS, rounds: 3 * rounds },
    ['none', 'triggers'],
    run,
  );
  await client.end();
  return { work, ...cost };
}

/** Measures a request that adds a row to a list with totals. */
async function measureMeetings(environment: BenchEnvironment, { rounds }: BenchOptions): Promise<Cost> {
  const service = await environment.startService();
  const headers = { authorization: `Bearer ${environment.tokens.all}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ title: 'Toolbox talk' });
  const run = async () => {
    const times: number[] = [];
    for (let request = 0; request < REQUESTS; request++) {
      const startedAt = performance.now();
      const response = await fetch(`${service.origin}/builders/${environment.data.builderId}/meetings`, {
        method: 'POST',
        headers,
        body,
      });
      if (!response.ok) throw new Error(await response.text());
      await response.arrayBuffer();
      times.push(performance.now() - startedAt);
    }
    return times.slice(WARM_UP_REQUESTS);
  };
  const cost = await measureVariants(
    { url: environment.urls.au1, triggers: TRIGGERS, rounds: 3 * rounds },
    ['none', 'triggers'],
    run,
  );
  await service.stop();
  return { work: 'POST meeting', goal: 1.05, ...cost };
}

/** Returns the rows per second of imports, each into a new database. */
async function measureImports(environment: BenchEnvironment): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  environment.onClose(() => rm(folder, { recursive: true, force: true }));
  const source = new Database('au1', environment.urls.au1);
  await exportFolder(source, folder);
  await source.close();
  const rates: number[] = [];
  for (let index = 0; index < IMPORTS; index++) {
    const target = new Database('au1', await createMigratedDatabase(environment.cluster, `bench_totals_${index}`));
    const startedAt = performance.now();
    const { files } = await importFolder(target, folder);
    const rows = files.reduce((sum, { inserted }) => sum + inserted, 0);
    rates.push((rows * 1000) / (performance.now() - startedAt));
    await target.close();
    logProgress(`import: ${rows} rows, ${Math.round(rates.at(-1)!)} per second`);
  }
  return rates;
}
