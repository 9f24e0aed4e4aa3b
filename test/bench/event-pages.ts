import pg from 'pg';
import { SCOPES } from '../../schema/scopes.ts';
import { encodeListCursor } from '../../src/database/read/list-cursor.ts';
import { encodeEventCursor } from '../../src/domain/events/event-cursor.ts';
import type { RegionId } from '../../src/shared/regions.ts';
import { type BenchEnvironment, createMigratedDatabase, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { compareSizes, DEFAULT_REQUESTS, type SizeComparison } from './growth.bench.ts';
import type { GrowthCase } from './growth-cases.ts';
import { BUILDERS, loadGrowthData } from './growth-data.ts';

/** The service serves each size as a region. */
const DATABASES: [region: RegionId, name: string, divisor: number][] = [
  ['us1', 'events_small', 1000],
  ['au1', 'events_large', 1],
];
const DAYS = 30;
/** Rows of one insert statement. */
const CHUNK_ROWS = 1_000_000;
/** Maximum ratio of the times over large and small data. */
const GOAL = 1.5;

/** Rows that `updatedSince` matches in both sizes. */
const CHANGED_ROWS = 500;

/** Request paths by name, for one region. */
type Paths = Record<string, string>;

/** Measures pages of the event feed, pages of a list by cursor, and changes of a list, over large and small data. */
export async function measureEventPages(
  environment: BenchEnvironment,
  options: BenchOptions,
): Promise<SizeComparison[]> {
  const cluster = options.data ? await environment.openCluster(options.data) : environment.cluster;
  const paths = {} as Record<RegionId, Paths>;
  let builderId = '';
  for (const [region, name, divisor] of DATABASES) {
    const rows = Math.max(BUILDERS * CHANGED_ROWS, Math.floor(options.rows / divisor));
    const url = await createMigratedDatabase(cluster, options.rows === 10_000_000 ? name : `${name}_${options.rows}`);
    environment.urls[region] = url;
    const data = await loadGrowthData(
      url,
      { timesheets: rows, photos: BUILDERS, visits: BUILDERS },
      { begin: '2022-01-03', days: 1825 },
    );
    builderId = data.builders[0]!.id;
    paths[region] = await preparePaths(url, region, builderId, rows);
  }
  const service = await environment.startService();
  const tokens = environment.signRegionalTokens('cli_bench', SCOPES);
  const headers = { 'x-service-builder-id': builderId };
  const comparisons: SizeComparison[] = [];
  for (const name of Object.keys(paths.au1)) {
    const growthCase: GrowthCase = {
      ...{ name, goal: GOAL },
      request: (_n, _total, region) => ({ path: paths[region][name]!, headers }),
    };
    comparisons.push(await compareSizes(service.origin, tokens, growthCase, options.requests ?? DEFAULT_REQUESTS));
    const { large, ratio } = comparisons.at(-1)!;
    logProgress(`${name}: ${large.toFixed(2)} ms, ${ratio.toFixed(2)} of the small`);
  }
  await service.stop();
  return comparisons;
}

/** Fills the event log, changes some timesheets and returns the paths to measure. */
async function preparePaths(url: string, region: RegionId, builderId: string, rows: number): Promise<Paths> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`set timezone = 'UTC'`);
    await fillLog(client, rows);
    const [{ since }] = (await client.query(`select to_json(clock_timestamp()) as since`)).rows;
    await client.query(
      'update timesheet set hours = hours where id in (select id from timesheet where builder_id = $1 order by id limit $2)',
      [builderId, CHANGED_ROWS],
    );
    return {
      ...(await createFeedPaths(client, region)),
      ...(await createListPaths(client, builderId)),
      'changes of a list by `updatedSince`': `/timesheets?updatedSince=${encodeURIComponent(new Date(since).toISOString())}`,
    };
  } finally {
    await client.end();
  }
}

/** Fills an empty event log with events of all builders over 30 days. */
async function fillLog(client: pg.Client, rows: number): Promise<void> {
  const { rows: existing } = await client.query('select from event limit 1');
  if (existing.length > 0) return;
  await client.query(`select create_event_partition(current_date - n) from generate_series(0, ${DAYS - 1}) n`);
  for (let first = 1; first <= rows; first += CHUNK_ROWS) {
    const last = Math.min(first + CHUNK_ROWS - 1, rows);
    await client.query(
      `insert into event (day, number, id, type, record_id, builder_id, occurred_at)
       select current_date - ${DAYS - 1} + ((n - 1) * ${DAYS} / $3::bigint)::int, n, 'evt_a' || md5(n::text), 'timesheet.updated',
         'ts_' || n, ids[1 + n % cardinality(ids)], now()
       from generate_series($1::bigint, $2::bigint) n, (select array_agg(id order by id) as ids from builder) builders`,
      [first, last, rows],
    );
    logProgress(`events: ${last} of ${rows}`);
  }
  await client.query('select number_events(1)');
  await client.query('update event_log set last_number = $1, last_day = current_date, dropped_number = 0', [rows]);
  await client.query('vacuum analyze event');
}

/** Returns the paths of pages of the event feed. */
async function createFeedPaths(client: pg.Client, region: RegionId): Promise<Paths> {
  const { rows } = await client.query(
    `select epoch, secret, last_number::int as last, dropped_number::int as "droppedNumber" from event_log`,
  );
  const [{ last, ...state }] = rows;
  const createFeedPath = async (number: number) => {
    const { rows: events } = await client.query(
      `select to_char(day, 'YYYY-MM-DD') as day from event where number = $1`,
      [number],
    );
    return `/events?after=${encodeEventCursor(region, state, { day: events[0].day, number })}`;
  };
  return {
    'feed, first page (after 30 days)': await createFeedPath(1),
    'feed, page in the middle': await createFeedPath(Math.floor(last / 2)),
    'feed, last page': await createFeedPath(last - 150),
    'feed, after the last event': await createFeedPath(last),
  };
}

/** Returns the paths of pages of a list by cursor. */
async function createListPaths(client: pg.Client, builderId: string): Promise<Paths> {
  const { rows } = await client.query('select count(*)::int as count from timesheet where builder_id = $1', [
    builderId,
  ]);
  const createListPath = async (offset: number) => {
    const { rows: timesheets } = await client.query(
      'select created_at::text as value, id from timesheet where builder_id = $1 order by created_at, id offset $2 limit 1',
      [builderId, offset],
    );
    const { value, id } = timesheets[0];
    const position = { afterValue: value, afterId: id, total: String(rows[0].count) };
    return `/timesheets?cursor=${encodeListCursor({ list: 'Timesheet', filters: { builderId } }, position)}`;
  };
  return {
    'list by cursor, first page': '/timesheets?cursor=',
    'list by cursor, page in the middle': await createListPath(Math.floor(rows[0].count / 2)),
    'list by cursor, last page': await createListPath(rows[0].count - 26),
  };
}
