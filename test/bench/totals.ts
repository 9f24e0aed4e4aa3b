import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportFolder } from '../../src/data-transfer/export.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { Database } from '../../src/database/database.ts';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import { migrated, type Stage, say } from './stage.ts';
import { markdown } from './table.ts';
import { type Cost, connect, costCells, inTurn, type MeasuredTriggers, median } from './trigger-costs.ts';

const REQUESTS = 60;
const WARM_UP = 10;
const STATEMENTS = 400;
const IMPORTS = 5;
const IMPORTED_TIMESHEETS = 200_000;
const MIN_ROWS_PER_SECOND = 20_000;

/** The triggers that count the rows of the lists, by list and by day. */
const TRIGGERS: MeasuredTriggers = { pattern: '_total_(insert|update|delete)$', table: 'list_day_change' };

/** What the totals of lists cost a single write, and how many rows an import stores while it maintains them. */
export async function totals(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(Math.max(options.timesheets, IMPORTED_TIMESHEETS));
  const costs = [
    await measureStatement(
      stage,
      options,
      'update of the status of a timesheet',
      `update timesheet set status = case status when 'REJECTED' then 'APPROVED_1' else 'REJECTED' end where id = $1`,
    ),
    await measureStatement(
      stage,
      options,
      'update of the hours of a timesheet',
      'update timesheet set hours = hours + 1 where id = $1',
    ),
    await measureMeetings(stage, options),
  ];
  const rates = await measureImports(stage);
  const rate = median([...rates]);
  const table = markdown(
    ['work', 'without totals', 'with totals', 'at most'],
    costs.map((cost) => costCells(cost, ['triggers'])),
  );
  const note = `Change of the time, with its 95 % confidence interval. Imports of ${IMPORTED_TIMESHEETS.toLocaleString('en')} timesheets and the rows that they refer to,
with totals: ${Math.round(rate).toLocaleString('en')} rows per second, median of ${IMPORTS} (${rates.map((each) => Math.round(each).toLocaleString('en')).join(' · ')}); at least ${MIN_ROWS_PER_SECOND.toLocaleString('en')} are required.`;
  await publish(options, { costs, rates }, `${table}\n\n${note}\n`);
  if (rate < MIN_ROWS_PER_SECOND) throw new Error(`An import stores ${Math.round(rate)} rows per second.`);
}

/** A statement that changes one timesheet, committed, on a connection whose plans are prepared. */
async function measureStatement({ urls }: Stage, { rounds }: Options, work: string, text: string): Promise<Cost> {
  const client = await connect(urls.au1);
  const { rows } = await client.query('select id from timesheet limit 100');
  const run = async () => {
    const times: number[] = [];
    for (let count = 0; count < STATEMENTS; count++) {
      const begun = performance.now();
      await client.query({ name: work, text, values: [rows[count % rows.length].id] });
      times.push(performance.now() - begun);
    }
    return times.slice(WARM_UP);
  };
  const cost = await inTurn({ url: urls.au1, triggers: TRIGGERS, rounds: 3 * rounds }, ['none', 'triggers'], run);
  await client.end();
  return { work, ...cost };
}

/** A request that adds a row to a counted list. */
async function measureMeetings(stage: Stage, { rounds }: Options): Promise<Cost> {
  const service = await stage.startOurs();
  const headers = { authorization: `Bearer ${stage.tokens.all}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ title: 'Toolbox talk' });
  const run = async () => {
    const times: number[] = [];
    for (let request = 0; request < REQUESTS; request++) {
      const begun = performance.now();
      const response = await fetch(`${service.origin}/builders/${stage.data.builderId}/meetings`, {
        method: 'POST',
        headers,
        body,
      });
      if (!response.ok) throw new Error(await response.text());
      await response.arrayBuffer();
      times.push(performance.now() - begun);
    }
    return times.slice(WARM_UP);
  };
  const cost = await inTurn({ url: stage.urls.au1, triggers: TRIGGERS, rounds: 3 * rounds }, ['none', 'triggers'], run);
  await service.stop();
  return { work: 'POST meeting', goal: 1.05, ...cost };
}

/** Rows per second of imports into empty tables, in a database of its own each time. */
async function measureImports(stage: Stage): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  stage.defer(() => rm(folder, { recursive: true, force: true }));
  const source = new Database('au1', stage.urls.au1);
  await exportFolder(source, folder);
  await source.close();
  const rates: number[] = [];
  for (let index = 0; index < IMPORTS; index++) {
    const target = new Database('au1', await migrated(stage.cluster, `bench_totals_${index}`));
    const begun = performance.now();
    const { files } = await importFolder(target, folder);
    const rows = files.reduce((sum, { inserted }) => sum + inserted, 0);
    rates.push((rows * 1000) / (performance.now() - begun));
    await target.close();
    say(`import: ${rows} rows, ${Math.round(rates.at(-1)!)} per second`);
  }
  return rates;
}
