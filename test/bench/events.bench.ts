import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exportFolder } from '../../src/data-transfer/export.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { Database } from '../../src/database/database.ts';
import { type BenchEnvironment, createMigratedDatabase, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { measureEventPages } from './event-pages.ts';
import { toTableCells } from './growth.bench.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { createPhotoReportBody } from './photo-report-body.ts';
import { publishFigures } from './publish-figures.ts';
import {
  type Cost,
  connect,
  type MeasuredTriggers,
  measureVariants,
  setTriggers,
  summarizeTimes,
  toCostCells,
  type Variant,
} from './trigger-costs.ts';

const REQUESTS = 60;
const WARM_UP_REQUESTS = 10;
const TRANSACTIONS = 400;
const WARM_UP_TRANSACTIONS = 50;
const IMPORTS = 6;

/** Triggers that record changes, including those of `changed_at`. */
const TRIGGERS: MeasuredTriggers = {
  pattern: '_(event_(insert|update|delete|archive)|changed_at|parent_\\w+)$',
  table: 'event_pending',
};

/** Measures the cost of the event log for writes and imports, and of its pages, list cursors and `updatedSince` over many rows. */
export async function measureEvents(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  await environment.prepare(options.timesheets);
  const costs = 'costs'.includes(options.only) ? await measureCosts(environment, options) : [];
  const pages = 'pages'.includes(options.only) ? await measureEventPages(environment, options) : [];
  const rows = costs.map((cost) => toCostCells(cost, ['triggers', 'statements']));
  const costTable = toMarkdownTable(['work', 'without a log', 'by triggers', 'by statements', 'at most'], rows);
  const pageTable = toMarkdownTable(['request', 'large, ms', 'small, ms', 'ratio', 'at most'], pages.map(toTableCells));
  const note = `Change of the time, with its 95 % confidence interval. Large: ${options.rows.toLocaleString('en')} events and timesheets; small: a thousandth, at least 10,000.`;
  await publishFigures(options, { costs, pages }, `${costTable}\n\n${pageTable}\n\n${note}\n`);
}

async function measureCosts(environment: BenchEnvironment, options: BenchOptions): Promise<Cost[]> {
  const service = await environment.startService();
  const costs = [
    await measureUpdates(environment, options),
    ...(await measureRequests(environment, service.origin, options)),
    await measureImports(environment),
  ];
  await service.stop();
  return costs;
}

/** Measures a transaction that updates one timesheet, on a connection that has prepared its statements. */
async function measureUpdates({ urls }: BenchEnvironment, { rounds }: BenchOptions): Promise<Cost> {
  const client = await connect(urls.au1);
  const { rows } = await client.query('select id from timesheet limit 100');
  const recordStatement = {
    name: 'record',
    text: `insert into event_pending (resource, change, record_id, builder_id, project_id)
      select 'timesheet', 'updated', id, builder_id, project_id from timesheet where id = $1`,
  };
  const run = async (variant: Variant) => {
    const times: number[] = [];
    for (let count = 0; count < TRANSACTIONS; count++) {
      const { id } = rows[count % rows.length];
      const startedAt = performance.now();
      await client.query('begin');
      await client.query({
        name: 'change',
        text: 'update timesheet set hours = hours + 1 where id = $1',
        values: [id],
      });
      if (variant === 'statements') await client.query({ ...recordStatement, values: [id] });
      await client.query('commit');
      times.push(performance.now() - startedAt);
    }
    return times.slice(WARM_UP_TRANSACTIONS);
  };
  const cost = await measureVariants(
    { url: urls.au1, triggers: TRIGGERS, rounds },
    ['none', 'triggers', 'statements'],
    run,
  );
  await client.end();
  return { work: 'transaction that updates one row', ...cost };
}

async function measureRequests(
  environment: BenchEnvironment,
  origin: string,
  { rounds }: BenchOptions,
): Promise<Cost[]> {
  const [builder] = environment.data.builders;
  const headers = { authorization: `Bearer ${environment.tokens.all}`, 'content-type': 'application/json' };
  let count = 0;
  const operations: [name: string, path: string, createBody: () => object][] = [
    [
      'sign-on event',
      `/builders/${environment.data.builderId}/projects/${environment.data.projectId}/sign-on-events`,
      () => ({
        ...{ sourceEventId: `gate-${count}`, type: 'SIGN_ON', occurredAt: new Date().toISOString() },
        workerId: environment.data.gateWorkerIds[count % environment.data.gateWorkerIds.length],
      }),
    ],
    [
      'photo-report sync of 50 blocks',
      `/builders/${builder!.id}/photo-reports/sync`,
      () => ({ ...createPhotoReportBody(`walk-${count % 10}`, builder!.photoIds), sourceRevision: count }),
    ],
  ];
  const costs: Cost[] = [];
  for (const [work, path, createBody] of operations) {
    const run = async () => {
      const times: number[] = [];
      for (let request = 0; request < REQUESTS; request++) {
        count++;
        const startedAt = performance.now();
        const response = await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(createBody()) });
        if (!response.ok) throw new Error(await response.text());
        await response.arrayBuffer();
        times.push(performance.now() - startedAt);
      }
      return times.slice(WARM_UP_REQUESTS);
    };
    costs.push({
      work,
      goal: 1.05,
      ...(await measureVariants(
        { url: environment.urls.au1, triggers: TRIGGERS, rounds: 3 * rounds },
        ['none', 'triggers'],
        run,
      )),
    });
    logProgress(
      `${work}: ${costs
        .at(-1)!
        .ratios.triggers!.map((ratio) => ratio.toFixed(2))
        .join(' ')}`,
    );
  }
  return costs;
}

/** Measures imports, each into a new database. */
async function measureImports(environment: BenchEnvironment): Promise<Cost> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  environment.onClose(() => rm(folder, { recursive: true, force: true }));
  const source = new Database('au1', environment.urls.au1);
  await exportFolder(source, folder);
  await source.close();
  const times: Record<string, number[]> = { none: [], triggers: [] };
  const variants = Array.from({ length: 2 * IMPORTS }, (_, index) =>
    index % 4 === 0 || index % 4 === 3 ? 'none' : 'triggers',
  );
  for (const [index, variant] of variants.entries()) {
    const url = await createMigratedDatabase(environment.cluster, `bench_import_${index}`);
    const target = new Database('au1', url);
    if (variant === 'none') {
      const client = await connect(url);
      // An import records changes with a statement of its own, not with the disabled triggers. Most of its cost is an index of the table.
      await client.query(`create function public.skip() returns trigger language plpgsql as 'begin return null; end'`);
      await client.query(
        'create trigger skip before insert on event_pending for each row execute function public.skip()',
      );
      await client.end();
      await setTriggers(url, TRIGGERS, false);
    }
    const startedAt = performance.now();
    await importFolder(target, folder);
    times[variant]!.push(performance.now() - startedAt);
    await target.close();
    logProgress(`import ${variant}: ${Math.round(times[variant]!.at(-1)!)} ms`);
    await sleep(200);
  }
  return { work: 'import', goal: 1.2, ...summarizeTimes(times) };
}
