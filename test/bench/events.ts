import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { exportFolder } from '../../src/data-transfer/export.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { Database } from '../../src/database/database.ts';
import { confidenceOf } from './confidence.ts';
import { measurePages } from './event-pages.ts';
import { cells } from './growth.ts';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import { reportOf } from './report.ts';
import { migrated, type Stage, say } from './stage.ts';
import { markdown } from './table.ts';

/** How changes are logged: by triggers, by statements of the writing code, or not at all. */
type Variant = 'none' | 'triggers' | 'statements';

interface Cost {
  work: string;
  /** Milliseconds: medians of the rounds. */
  times: Partial<Record<Variant, number>>;
  /** Time with a log by that of none, in each round. */
  ratios: Partial<Record<Variant, number[]>>;
  /** At most that much slower by triggers. */
  goal?: number;
}

const REQUESTS = 60;
const TRANSACTIONS = 400;
const IMPORTS = 6;

/** What the event log costs writes and an import, and what its pages, list cursors and `updatedSince` cost over many rows. */
export async function events(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const costs = 'costs'.includes(options.only) ? await measureCosts(stage, options) : [];
  const pages = 'pages'.includes(options.only) ? await measurePages(stage, options) : [];
  const percent = (ratio: number) => `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`;
  const describe = (ratios: number[] | undefined) => {
    if (!ratios) return '–';
    const { ratio, interval } = confidenceOf(ratios);
    return `${percent(ratio)} (${interval.map(percent).join(' to ')})`;
  };
  const rows = costs.map(({ work, times, ratios, goal }) => [
    ...[work, `${times.none!.toFixed(2)} ms`, describe(ratios.triggers), describe(ratios.statements)],
    goal === undefined ? '–' : percent(goal),
  ]);
  const costTable = markdown(['work', 'without a log', 'by triggers', 'by statements', 'at most'], rows);
  const pageTable = markdown(['request', 'large, ms', 'small, ms', 'ratio', 'at most'], pages.map(cells));
  const note = `Change of the time, with its 95 % confidence interval. Large: ${options.rows.toLocaleString('en')} events and timesheets; small: a thousandth, at least 10,000.`;
  await publish(options, { costs, pages }, `${costTable}\n\n${pageTable}\n\n${note}\n`);
}

async function measureCosts(stage: Stage, options: Options): Promise<Cost[]> {
  const service = await stage.startOurs();
  const costs = [
    await measureUpdates(stage, options),
    ...(await measureRequests(stage, service.origin, options)),
    await measureImports(stage),
  ];
  await service.stop();
  return costs;
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

/** Measures the variants in turn, in both orders, so that what changes on the machine meanwhile concerns all of them. */
async function inTurn(url: string, rounds: number, variants: Variant[], run: (variant: Variant) => Promise<number[]>) {
  const times: Partial<Record<Variant, number[]>> = {};
  for (let round = 0; round < rounds; round++) {
    for (const variant of round % 2 ? variants.toReversed() : variants) {
      await setTriggers(url, variant === 'triggers');
      times[variant] = [...(times[variant] ?? []), median(await run(variant))];
    }
  }
  await setTriggers(url, true);
  return summarize(times);
}

function summarize(times: Partial<Record<Variant, number[]>>): Pick<Cost, 'times' | 'ratios'> {
  const entries = Object.entries(times);
  const ratios = entries
    .filter(([variant]) => variant !== 'none')
    .map(([variant, all]) => [variant, all.map((time, round) => time / times.none![round]!)]);
  return {
    ratios: Object.fromEntries(ratios),
    times: Object.fromEntries(entries.map(([variant, all]) => [variant, median([...all])])),
  };
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
  const cost = await inTurn(urls.au1, rounds, ['none', 'triggers', 'statements'], run);
  await client.end();
  return { work: 'transaction that updates one row', ...cost };
}

async function measureRequests(stage: Stage, origin: string, { rounds }: Options): Promise<Cost[]> {
  const [builder] = stage.data.builders;
  const headers = { authorization: `Bearer ${stage.tokens.all}`, 'content-type': 'application/json' };
  let count = 0;
  const works: [name: string, path: string, body: () => object][] = [
    [
      'sign-on event',
      `/builders/${stage.data.builderId}/projects/${stage.data.projectId}/sign-on-events`,
      () => ({
        ...{ sourceEventId: `gate-${count}`, type: 'SIGN_ON', occurredAt: new Date().toISOString() },
        workerId: stage.data.gateWorkerIds[count % stage.data.gateWorkerIds.length],
      }),
    ],
    [
      'photo-report sync of 50 blocks',
      `/builders/${builder!.id}/photo-reports/sync`,
      () => ({ ...reportOf(`walk-${count % 10}`, builder!.photoIds), sourceRevision: count }),
    ],
  ];
  const costs: Cost[] = [];
  for (const [work, path, body] of works) {
    const run = async () => {
      const times: number[] = [];
      for (let request = 0; request < REQUESTS; request++) {
        count++;
        const begun = performance.now();
        const response = await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body()) });
        if (!response.ok) throw new Error(await response.text());
        await response.arrayBuffer();
        times.push(performance.now() - begun);
      }
      return times.slice(10);
    };
    costs.push({ work, goal: 1.05, ...(await inTurn(stage.urls.au1, 3 * rounds, ['none', 'triggers'], run)) });
    say(
      `${work}: ${costs
        .at(-1)!
        .ratios.triggers!.map((ratio) => ratio.toFixed(2))
        .join(' ')}`,
    );
  }
  return costs;
}

/** An import into empty tables, in a database of its own each time. */
async function measureImports(stage: Stage): Promise<Cost> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  stage.defer(() => rm(folder, { recursive: true, force: true }));
  const source = new Database('au1', stage.urls.au1);
  await exportFolder(source, folder);
  await source.close();
  const times: Record<string, number[]> = { none: [], triggers: [] };
  const order = Array.from({ length: 2 * IMPORTS }, (_, index) =>
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
  return { work: 'import', goal: 1.2, ...summarize(times) };
}
