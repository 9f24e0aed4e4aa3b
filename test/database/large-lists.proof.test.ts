import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROSTER } from '../../entities/gate-lists.type.ts';
import { ListOrder } from '../../schema/enums.ts';
import type { PageWindow } from '../../schema/page.ts';
import { toDateRange } from '../../schema/range.ts';
import type { Statement } from '../../src/database/pool/pg-pipeline.ts';
import { connectWithSettings, READER_SETTINGS } from '../../src/database/pool/session-settings.ts';
import { rebuildTotals } from '../../src/database/write/list-counters.ts';
import { readChanges } from '../../src/domain/attendance/change-lists.ts';
import { timesheets } from '../../src/domain/readers/timesheet.reader.ts';
import { useService } from '../support/harness.ts';
import { vacuum } from '../support/vacuum.ts';

const service = useService();

/** Returns a parameter as PostgreSQL's text. */
const toText = (value: unknown): string =>
  Array.isArray(value)
    ? `{${value.map((each) => (each === null ? 'NULL' : JSON.stringify(String(each))))}}`
    : String(value);

/** A node of a plan that was executed. */
interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/** Number of pages of 8 KiB that a plan has read. */
const countPages = (plan: Plan) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];

/** Returns what the work returns, and the plan of the last statement that it sent. */
async function explainLastRead<T>(client: pg.Client, work: () => Promise<T>): Promise<{ result: T; plan: Plan }> {
  const { runner, slowRunner } = service.databases.au1;
  let sent: [Statement, readonly unknown[]] | undefined;
  const runs = [runner, slowRunner].map((each) => [each, each.run] as const);
  for (const [each, run] of runs)
    each.run = (...args) => {
      sent = [args[3] ?? args[0], args[1]];
      return run.apply(each, args);
    };
  const result = await work().finally(() => {
    for (const [each, run] of runs) each.run = run;
  });
  const [{ text }, values] = sent!;
  await client.query(`prepare page as ${text}`);
  const literals = values.map((value) => pg.escapeLiteral(toText(value)));
  const { rows } = await client.query(`explain (analyze, buffers, format json) execute page(${literals.join()})`);
  await client.query('deallocate page');
  return { result, plan: rows[0]['QUERY PLAN'][0].Plan };
}

describe('pages of a list of 200,000 rows', () => {
  const WEEK = { startDate: '2026-03-02T00:00:00Z', endDate: '2026-03-08T23:59:59.999Z' };
  let client: pg.Client;
  let builderId: string;
  let projectId: string;

  beforeAll(async () => {
    const { url } = service.databases.au1;
    builderId = service.findDemoClient('A').builderIds[0]!;
    const writer = new pg.Client({ connectionString: url });
    await writer.connect();
    const { rows } = await writer.query('select id from project where builder_id = $1 order by id limit 1', [
      builderId,
    ]);
    projectId = rows[0].id;
    // Without triggers, which would take most of the time.
    await writer.query('set session_replication_role = replica');
    await writer.query(
      `insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours)
       select 'ts_' || n, at, at, $1, case when n % 20 = 0 then $2 else 'proj_' || n % 20 end, 'pers_1',
         case when n % 1000 = 0 then 'REJECTED' else 'APPROVED_1' end, date_trunc('day', at, 'UTC'), 8
       from (select n, timestamptz '2022-01-03Z' + n * interval '13 minutes' as at from generate_series(1, 200000) n) numbered`,
      [builderId, projectId],
    );
    await writer.end();
    await rebuildTotals({ url });
    client = await connectWithSettings(url, READER_SETTINGS);
    await vacuum(client);
  });

  afterAll(() => client?.end());

  /** Returns the scans of the list's table, with the rows that they return, and the pages of 8 KiB that the statement reads. */
  async function explainPage(where: object, window: Partial<PageWindow> = {}) {
    const { result, plan } = await explainLastRead(client, () =>
      timesheets.findPage(service.databases.au1, { builderId, ...where }, { offset: 0, limit: 25, ...window }),
    );
    const scans: string[] = [];
    const visit = (node: Plan) => {
      if (node['Relation Name'] === 'timesheet')
        scans.push(`${node['Node Type']} ${node['Index Name']}: ${node['Actual Rows'] * node['Actual Loops']}`);
      for (const child of node.Plans ?? []) visit(child);
    };
    visit(plan);
    return { page: result, scans, pages: countPages(plan) };
  }

  it.each(Object.values(ListOrder))('reads a first page, and one by cursor, by an index: %s', async (order) => {
    const first = await explainPage({}, { order });
    expect(first.scans).toEqual(['Index Scan timesheet_builder_id_created_at_id_index: 25']);
    const { page } = await explainPage({}, { order, cursor: '' });
    const next = await explainPage({}, { order, cursor: page.meta.nextCursor! });
    expect(next.scans).toEqual(['Index Scan timesheet_builder_id_created_at_id_index: 26']);
    expect(Math.max(first.pages, next.pages)).toBeLessThan(500);
  });

  it.each(Object.values(ListOrder))('reads a rare status, and a project, by an index: %s', async (order) => {
    const status = await explainPage({ status: 'REJECTED' }, { order });
    expect(status.scans).toEqual(['Index Scan timesheet_builder_id_status_created_at_id_index: 25']);
    const project = await explainPage({ projectId, status: 'APPROVED_1' }, { order });
    expect(project.scans).toEqual(['Index Scan timesheet_project_id_created_at_id_index: 25']);
    expect(Math.max(status.pages, project.pages)).toBeLessThan(500);
  });

  const DEEP_PAGES = [
    [50_000, 50_025, 0],
    [150_100, 0, 50_000],
    [200_090, 0, 10],
  ] as const;

  it.each(Object.values(ListOrder).flatMap((order) => DEEP_PAGES.map((page) => [order, ...page] as const)))(
    'finds the ids of a page %s at %i in an index alone, from the nearer end',
    async (order, offset, forward, backward) => {
      const { scans, pages } = await explainPage({}, { order, offset });
      expect(scans).toEqual([
        `Index Only Scan timesheet_builder_id_created_at_id_index: ${forward}`,
        `Index Only Scan timesheet_builder_id_created_at_id_index: ${backward}`,
        `Index Scan timesheet_pkey: ${Math.min(25, 200_100 - offset)}`,
      ]);
      expect(pages).toBeLessThan(1500);
    },
  );

  it('counts and sorts a week in the index by date alone', async () => {
    const days = { startDate: '2026-03-02', endDate: '2026-03-08' };
    const zones = ['Australia/Sydney', 'America/New_York'].map((timeZone) => toDateRange({ ...days, timeZone }));
    for (const where of [WEEK, { ...WEEK, status: 'APPROVED_1' }, { ...WEEK, projectId }, ...zones]) {
      const { page, scans, pages } = await explainPage(where, { order: ListOrder.desc });
      const week = `Index Only Scan timesheet_builder_id_date_id_index: ${page.meta.totalCount}`;
      expect(scans).toEqual([week, week, `Index Scan timesheet_pkey: ${page.data.length}`]);
      expect(pages).toBeLessThan(500);
    }
  });
});

describe('a roster of 50,000 workers', () => {
  it('costs the same at its start, in its middle, at its end, and from a time (ATT-36)', async () => {
    const builderId = service.findDemoClient('A').builderIds[0]!;
    const writer = new pg.Client({ connectionString: service.databases.au1.url });
    await writer.connect();
    const { rows } = await writer.query('select id from project where builder_id = $1 order by id limit 1', [
      builderId,
    ]);
    const owner = { builderId, projectId: rows[0].id as string };
    await writer.query('set session_replication_role = replica');
    await writer.query(
      `insert into worker (id, created_at, updated_at, builder_id, subcontractor_id, full_name)
       select 'wkr_of_roster_' || n, now(), now(), $1, 'sub_a1', 'Worker ' || n from generate_series(1, 50000) n`,
      [builderId],
    );
    await writer.query(
      `insert into site_access (builder_id, project_id, worker_id, granted_at, listed_at)
       select $1, $2, 'wkr_of_roster_' || n, now(), timestamptz '2026-03-02Z' + n * interval '1 second' from generate_series(1, 50000) n`,
      [owner.builderId, owner.projectId],
    );
    await writer.end();
    const client = await connectWithSettings(service.databases.au1.url, READER_SETTINGS);
    await client.query('vacuum analyze worker, site_access');
    const explain = async (window: { cursor?: string; updatedSince?: string }) => {
      const { result, plan } = await explainLastRead(client, () =>
        readChanges(service.databases.au1, ROSTER, owner, {}, { limit: 100, ...window }),
      );
      return { rows: result.data.length, cursor: result.meta.nextCursor, pages: countPages(plan) };
    };
    const first = await explain({});
    const second = await explain({ cursor: first.cursor });
    const middle = await explain({ updatedSince: '2026-03-02T07:00:00Z' });
    const later = await explain({ cursor: middle.cursor, updatedSince: '2026-03-02T07:00:00Z' });
    const last = await explain({ updatedSince: '2026-03-02T13:50:00Z' });
    await client.end();
    const all = [first, second, middle, later, last];
    expect(all.map((page) => page.rows)).toEqual(all.map(() => 100));
    expect(Math.max(...all.map(({ pages }) => pages))).toBeLessThan(1.2 * Math.min(...all.map(({ pages }) => pages)));
  });
});
