import pg from 'pg';
import { SCOPES } from '../../schema/scopes.ts';
import { encodeListCursor } from '../../src/database/read/list-cursor.ts';
import { encodeEventCursor } from '../../src/domain/events/event-cursor.ts';
import type { RegionId } from '../../src/shared/regions.ts';
import { compare, DATABASES, type Figure, REQUESTS } from './growth.ts';
import type { GrowthCase } from './growth-cases.ts';
import { BUILDERS, growTo } from './growth-data.ts';
import type { Options } from './options.ts';
import { migrated, type Stage, say } from './stage.ts';

const DAYS = 30;
const CHUNK = 1_000_000;
const GOAL = 1.5;

/** Rows that `updatedSince` matches in both sizes. */
const CHANGED = 500;

/** Paths by name, of the region that they are measured in. */
type Paths = Record<string, string>;

/** Pages of the feed, pages of a list by cursor, and changes of a list, over so many rows and over a thousandth of them. */
export async function measurePages(stage: Stage, options: Options): Promise<Figure[]> {
  const cluster = options.data ? await stage.openCluster(options.data) : stage.cluster;
  const paths = {} as Record<RegionId, Paths>;
  let builderId = '';
  for (const [region, { name, divisor }] of Object.entries(DATABASES) as [RegionId, (typeof DATABASES)['au1']][]) {
    const rows = Math.max(BUILDERS * CHANGED, Math.floor(options.rows / divisor));
    const url = await migrated(cluster, options.rows === 10_000_000 ? name : `${name}_${options.rows}`);
    stage.urls[region] = url;
    const data = await growTo(url, { timesheets: rows, photos: BUILDERS, visits: BUILDERS });
    builderId = data.builders[0]!.id;
    paths[region] = await preparePaths(url, region, builderId, rows);
  }
  const service = await stage.startOurs();
  const token = await stage.sign('cli_bench', SCOPES);
  const headers = { 'x-service-builder-id': builderId };
  const figures: Figure[] = [];
  for (const name of Object.keys(paths.au1)) {
    const one: GrowthCase = {
      ...{ name, goal: GOAL },
      request: (_n, _total, region) => ({ path: paths[region][name]!, headers }),
    };
    figures.push(await compare(service.origin, token, one, options.requests ?? REQUESTS));
    say(`${name}: ${figures.at(-1)!.large.toFixed(2)} ms, ${figures.at(-1)!.ratio.toFixed(2)} of the small`);
  }
  await service.stop();
  return figures;
}

async function preparePaths(url: string, region: RegionId, builderId: string, rows: number): Promise<Paths> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`set timezone = 'UTC'`);
    await fillLog(client, rows);
    const [{ since }] = (await client.query(`select to_json(clock_timestamp()) as since`)).rows;
    await client.query(
      'update timesheet set hours = hours where id in (select id from timesheet where builder_id = $1 order by id limit $2)',
      [builderId, CHANGED],
    );
    return {
      ...(await feedPaths(client, region)),
      ...(await listPaths(client, builderId)),
      'changes of a list by `updatedSince`': `/timesheets?updatedSince=${encodeURIComponent(new Date(since).toISOString())}`,
    };
  } finally {
    await client.end();
  }
}

/** Fills an empty log with events of all builders, over 30 days. */
async function fillLog(client: pg.Client, rows: number): Promise<void> {
  const { rows: existing } = await client.query('select from event limit 1');
  if (existing.length > 0) return;
  await client.query(`select create_event_partition(current_date - n) from generate_series(0, ${DAYS - 1}) n`);
  for (let first = 1; first <= rows; first += CHUNK) {
    const last = Math.min(first + CHUNK - 1, rows);
    await client.query(
      `insert into event (day, number, id, type, record_id, builder_id, occurred_at)
       select current_date - ${DAYS - 1} + ((n - 1) * ${DAYS} / $3::bigint)::int, n, 'evt_a' || md5(n::text), 'timesheet.updated',
         'ts_' || n, ids[1 + n % cardinality(ids)], now()
       from generate_series($1::bigint, $2::bigint) n, (select array_agg(id order by id) as ids from builder) builders`,
      [first, last, rows],
    );
    say(`events: ${last} of ${rows}`);
  }
  await client.query('select number_events(1)');
  await client.query('update event_log set last_number = $1, last_day = current_date, dropped_number = 0', [rows]);
  await client.query('vacuum analyze event');
}

/** Pages of 100 events that the client sees. */
async function feedPaths(client: pg.Client, region: RegionId): Promise<Paths> {
  const { rows } = await client.query(
    `select epoch, secret, last_number::int as last, dropped_number::int as "droppedNumber" from event_log`,
  );
  const [{ last, ...state }] = rows;
  const after = async (number: number) => {
    const found = await client.query(`select to_char(day, 'YYYY-MM-DD') as day from event where number = $1`, [number]);
    return `/events?after=${encodeEventCursor(region, state, { day: found.rows[0].day, number })}`;
  };
  return {
    'feed, first page (after 30 days)': await after(1),
    'feed, page in the middle': await after(Math.floor(last / 2)),
    'feed, last page': await after(last - 150),
    'feed, after the last event': await after(last),
  };
}

async function listPaths(client: pg.Client, builderId: string): Promise<Paths> {
  const { rows } = await client.query('select count(*)::int as count from timesheet where builder_id = $1', [
    builderId,
  ]);
  const after = async (offset: number) => {
    const found = await client.query(
      'select created_at::text as value, id from timesheet where builder_id = $1 order by created_at, id offset $2 limit 1',
      [builderId, offset],
    );
    const { value, id } = found.rows[0];
    const position = { afterValue: value, afterId: id };
    return `/timesheets?cursor=${encodeListCursor({ list: 'Timesheet', filters: { builderId } }, position)}`;
  };
  return {
    'list by cursor, first page': '/timesheets?cursor=',
    'list by cursor, page in the middle': await after(Math.floor(rows[0].count / 2)),
    'list by cursor, last page': await after(rows[0].count - 26),
  };
}
