import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { exportFolder } from '../../src/data-transfer/export.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { Database } from '../../src/database/database.ts';
import { type FilterParameters, type LogPosition, readLogPage } from '../../src/domain/events/event-log.ts';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import { reportOf } from './report.ts';
import { migrated, type Stage, say } from './stage.ts';
import { markdown } from './table.ts';

/** How changes are logged: by triggers, by statements of the writing code, or not at all. */
type Variant = 'none' | 'triggers' | 'statements';

interface Cost {
  work: string;
  /** Of the fastest round, in milliseconds: the median of its runs. */
  times: Partial<Record<Variant, number>>;
}

const REPORTS = 40;
const TRANSACTIONS = 400;
const IMPORTS = 12;

/**
 * What the event log costs a photo-report sync, an update of one row and an import: the variants in turn, over the same data. Sign-on
 * events are not published.
 */
export async function events(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const costs = [
    await measureUpdates(stage, options),
    await measureReports(stage, options),
    await measureImports(stage),
  ];
  const percent = ({ times }: Cost, variant: Variant) =>
    times[variant] === undefined ? '–' : `${((times[variant] / times.none! - 1) * 100).toFixed(1)} %`;
  const rows = costs.map((cost) => [
    cost.work,
    `${cost.times.none!.toFixed(2)} ms`,
    ...[percent(cost, 'triggers'), percent(cost, 'statements')],
  ]);
  const pages = await measurePages(stage, options);
  const costTable = markdown(['Work', 'without a log', 'by triggers', 'by statements'], rows);
  const pageTable = markdown(
    ['Page', 'ms'],
    Object.entries(pages).map(([page, time]) => [page, time.toFixed(2)]),
  );
  await publish(options, { costs, pages }, `${costTable}\n\n${pageTable}\n`);
}

/** Pages of a log of 30 days, and of a list by cursor: the median of 200 reads of each. */
async function measurePages(stage: Stage, { requests = 1_000_000 }: Options): Promise<Record<string, number>> {
  const url = await migrated(stage.cluster, 'bench_pages');
  const client = await connect(url);
  await client.query(`select create_event_partition(current_date - n) from generate_series(0, 29) n`);
  await client.query(
    `insert into event (day, number, id, type, record_id, builder_id, occurred_at)
     select current_date - 29 + (n * 30 / $1)::int, n, 'evt_a' || md5(n::text), 'timesheet.updated', 'ts_' || n, 'buil_' || n % 100, now()
     from generate_series(0, $1::bigint - 1) n`,
    [requests],
  );
  await client.query('vacuum analyze event');
  await client.end();
  const database = new Database('au1', url);
  stage.defer(() => database.close());
  const filter = { types: '{"0":["timesheet.updated"]}', groups: '{"buil_7":"0"}' };
  const all = { ...filter, groups: null };
  const [first] = (await readLogPage(database, { day: '2000-01-01', number: -1 }, all, 1)).events;
  const at = async (number: number) => {
    const rows = await database
      .fork()
      .execute<{ day: string }[]>(`select to_char(day, 'YYYY-MM-DD') as day from event where number = ?`, [number]);
    return { day: rows[0]!.day, number };
  };
  const cases: [string, LogPosition, FilterParameters][] = [
    ['first page of 100 events', { day: first!.day, number: -1 }, all],
    ['page in the middle', await at(Math.floor(requests / 2)), all],
    ['last page', await at(requests - 101), all],
    ['page after the last event', await at(requests - 1), all],
    ['page of a builder with 1 of 100 events', await at(Math.floor(requests / 2)), filter],
  ];
  const times: Record<string, number> = {};
  for (const [name, position, parameters] of cases) {
    const taken: number[] = [];
    for (let count = 0; count < 200; count++) {
      const begun = performance.now();
      await readLogPage(database, position, parameters, 100);
      taken.push(performance.now() - begun);
    }
    times[`${requests} events: ${name}`] = median(taken.slice(20));
  }
  return times;
}

const median = (times: number[]) => times.sort((one, other) => one - other)[times.length >> 1]!;

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Enables or disables the triggers of changes, those of `changed_at` included. */
async function setTriggers(url: string, enabled: boolean): Promise<void> {
  const client = await connect(url);
  const { rows } = await client.query(`select tgrelid::regclass as table, tgname as name from pg_trigger
    where not tgisinternal and tgname ~ '_(event_(insert|update|delete|archive)|changed_at|parent_\\w+)$'`);
  for (const { table, name } of rows) {
    await client.query(`alter table ${table} ${enabled ? 'enable' : 'disable'} trigger ${name}`);
  }
  await client.query('truncate event_pending');
  await client.end();
}

async function inTurn(url: string, rounds: number, variants: Variant[], run: (variant: Variant) => Promise<number[]>) {
  const times: Partial<Record<Variant, number[]>> = {};
  for (let round = 0; round < rounds; round++) {
    for (const variant of round % 2 ? variants.toReversed() : variants) {
      await setTriggers(url, variant === 'triggers');
      times[variant] = [...(times[variant] ?? []), median(await run(variant))];
    }
  }
  // What else runs on the machine only adds to a time.
  return Object.fromEntries(Object.entries(times).map(([variant, all]) => [variant, Math.min(...all)]));
}

/** A transaction that updates one timesheet, on a connection whose plans are prepared. */
async function measureUpdates({ urls }: Stage, { rounds }: Options): Promise<Cost> {
  const client = await connect(urls.au1);
  const { rows } = await client.query('select id from timesheet limit 100');
  const record = {
    name: 'record',
    text: `insert into event_pending (resource, change, record_id, builder_id, project_id)
      select 'timesheet', 'updated', id, builder_id, project_id from timesheet where id = $1`,
  };
  const run = async (variant: Variant) => {
    const times: number[] = [];
    for (let count = 0; count < TRANSACTIONS; count++) {
      const { id } = rows[count % rows.length];
      const begun = performance.now();
      await client.query('begin');
      await client.query({
        name: 'change',
        text: 'update timesheet set hours = hours + 1 where id = $1',
        values: [id],
      });
      if (variant === 'statements') await client.query({ ...record, values: [id] });
      await client.query('commit');
      times.push(performance.now() - begun);
    }
    return times.slice(50);
  };
  const times = await inTurn(urls.au1, rounds, ['none', 'triggers', 'statements'], run);
  await client.end();
  return { work: 'update of one row', times };
}

async function measureReports(stage: Stage, { rounds }: Options): Promise<Cost> {
  const { origin } = await stage.startOurs();
  const [builder] = stage.data.builders;
  const headers = { authorization: `Bearer ${stage.tokens.all}`, 'content-type': 'application/json' };
  let revision = 1;
  const run = async () => {
    const times: number[] = [];
    for (let count = 0; count < REPORTS; count++) {
      const body = JSON.stringify({ ...reportOf(`walk-${count % 10}`, builder!.photoIds), sourceRevision: ++revision });
      const begun = performance.now();
      const response = await fetch(`${origin}/builders/${builder!.id}/photo-reports/sync`, {
        method: 'POST',
        headers,
        body,
      });
      if (!response.ok) throw new Error(await response.text());
      await response.arrayBuffer();
      times.push(performance.now() - begun);
    }
    return times.slice(5);
  };
  return {
    work: 'photo-report sync of 50 blocks',
    times: await inTurn(stage.urls.au1, rounds, ['none', 'triggers'], run),
  };
}

/** An import into empty tables, in a database of its own each time. */
async function measureImports(stage: Stage): Promise<Cost> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  stage.defer(() => rm(folder, { recursive: true, force: true }));
  const source = new Database('au1', stage.urls.au1);
  await exportFolder(source, folder);
  await source.close();
  const times: Record<string, number[]> = { none: [], triggers: [] };
  const order = Array.from({ length: IMPORTS }, (_, index) =>
    index % 4 === 0 || index % 4 === 3 ? 'none' : 'triggers',
  );
  for (const [index, variant] of order.entries()) {
    const url = await migrated(stage.cluster, `bench_import_${index}`);
    const target = new Database('au1', url);
    if (variant === 'none') {
      const client = await connect(url);
      // Bulk loads record changes by a statement of their own; an index of the table is most of its cost.
      await client.query(`create function public.skip() returns trigger language plpgsql as 'begin return null; end'`);
      await client.query(
        'create trigger skip before insert on event_pending for each row execute function public.skip()',
      );
      await client.end();
      await setTriggers(url, false);
    }
    const begun = performance.now();
    await importFolder(target, folder);
    times[variant]!.push(performance.now() - begun);
    await target.close();
    say(`import ${variant}: ${Math.round(times[variant]!.at(-1)!)} ms`);
    await sleep(200);
  }
  return { work: 'import', times: { none: Math.min(...times.none!), triggers: Math.min(...times.triggers!) } };
}
