import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exportFolder } from '../../src/data-transfer/export.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { Database } from '../../src/database/database.ts';
import { measurePages } from './event-pages.ts';
import { cells } from './growth.ts';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import { reportOf } from './report.ts';
import { migrated, type Stage, say } from './stage.ts';
import { markdown } from './table.ts';
import {
  type Cost,
  connect,
  costCells,
  inTurn,
  type MeasuredTriggers,
  setTriggers,
  summarize,
  type Variant,
} from './trigger-costs.ts';

const REQUESTS = 60;
const TRANSACTIONS = 400;
const IMPORTS = 6;

/** The triggers of changes, those of `changed_at` included. */
const TRIGGERS: MeasuredTriggers = {
  pattern: '_(event_(insert|update|delete|archive)|changed_at|parent_\\w+)$',
  table: 'event_pending',
};

/** What the event log costs writes and an import, and what its pages, list cursors and `updatedSince` cost over many rows. */
export async function events(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const costs = 'costs'.includes(options.only) ? await measureCosts(stage, options) : [];
  const pages = 'pages'.includes(options.only) ? await measurePages(stage, options) : [];
  const rows = costs.map((cost) => costCells(cost, ['triggers', 'statements']));
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
  const cost = await inTurn({ url: urls.au1, triggers: TRIGGERS, rounds }, ['none', 'triggers', 'statements'], run);
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
    costs.push({
      work,
      goal: 1.05,
      ...(await inTurn({ url: stage.urls.au1, triggers: TRIGGERS, rounds: 3 * rounds }, ['none', 'triggers'], run)),
    });
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
      await setTriggers(url, TRIGGERS, false);
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
