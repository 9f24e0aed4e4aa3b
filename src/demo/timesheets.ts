import { availableParallelism } from 'node:os';
import type pg from 'pg';
import { countedColumns } from '../../entities/list-total.entity.ts';
import type { Database } from '../database/database.ts';
import { findCountedList, toCounterInsertSql } from '../database/write/list-counters.ts';
import { ID_PREFIXES } from '../shared/ids.ts';
import { BASE, DAY, HISTORY_DAYS, toBaseDay } from './dates.ts';
import { withClient } from './rows.ts';
import { TIME_TYPES, TIMESHEET_NOTES } from './words.ts';

const LIST = findCountedList('timesheet')!;

/** Rows per transaction. */
const BATCH = 20_000;
const MAX_CONNECTIONS = 4;

/**
 * Adds `count` timesheets, spread over the region's builders, projects and profiles and over the days of the history. Numbering continues
 * after the existing timesheets.
 */
export async function loadTimesheets(
  database: Database,
  count: number,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  const first = await withClient(database, countTimesheets);
  let next = first;
  let left = count;
  let done = 0;
  const insertBatches = async (client: pg.ClientBase) => {
    await skipReferenceChecks(client);
    while (left > 0) {
      const span = { first: next, count: Math.min(BATCH, left) };
      next += span.count;
      left -= span.count;
      const inserted = await insertTimesheets(client, database.region, span, { first, count });
      left += span.count - inserted;
      done += inserted;
      onProgress(done);
    }
  };
  const connections = Math.min(availableParallelism(), MAX_CONNECTIONS);
  await Promise.all(Array.from({ length: connections }, () => withClient(database, insertBatches)));
  // Enables index-only scans for the counts of lists.
  await withClient(database, (client) => client.query('vacuum (analyze) timesheet'));
}

/**
 * Disables triggers and foreign key checks on the connection, which take half of the time. Ids come from the referenced tables, where
 * nothing is deleted, and `INSERT` updates list totals itself. Without the privilege the triggers stay enabled.
 */
export async function skipReferenceChecks(client: pg.ClientBase): Promise<void> {
  await client.query(`select set_config('session_replication_role', 'replica', false)
    where has_parameter_privilege('session_replication_role', 'set')`);
}

/** Consecutive timesheet numbers. A timesheet and its id are determined by its number. */
interface Span {
  first: number;
  count: number;
}

async function countTimesheets(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>('select count(*) from timesheet');
  return Number(rows[0]!.count);
}

/**
 * Inserts the timesheets of a span, dated by their position in `range`. Returns the number inserted: numbers already in use are skipped.
 */
export async function insertTimesheets(
  client: pg.ClientBase,
  region: string,
  { first, count }: Span,
  range: Span = { first, count },
): Promise<number> {
  const values = [TIME_TYPES[0], first, first + count - 1, range.first, range.count, region, TIMESHEET_NOTES];
  const { rows: counted } = await client.query<{ count: number }>(INSERT, values);
  const { count: inserted } = counted[0]!;
  if (inserted === 0) {
    const { rows } = await client.query(`${POOL} select from pool limit 1`, [TIME_TYPES[0]]);
    if (rows.length === 0)
      throw new Error('No builder of the region has a project and a profile that timesheets can refer to.');
  }
  return inserted;
}

/** SQL of an instant in base 36, as `newId` formats it. */
const base36 = (milliseconds: string) =>
  Array.from({ length: 9 }, (_, index) => {
    const digit = `(${milliseconds} / ${36 ** (8 - index)} % 36)::int`;
    return `substr('0123456789abcdefghijklmnopqrstuvwxyz', 1 + ${digit}, 1)`;
  }).join(' || ');

const instant = (milliseconds: string) => `timestamptz 'epoch' + (${milliseconds}) * interval '1 millisecond'`;

/** SQL of 16 bits of the number's digest, after the half that the id uses. */
const bits = (index: number) => `('x' || substr(digest, ${17 + 4 * index}, 4))::bit(16)::int`;

/** Records that the timesheets of each builder refer to. Parameter 1: the usual time type. */
const POOL = `with pool as materialized (
  select row_number() over (order by builder.created_at, builder.id) - 1 as builder_index, builder.id as builder_id,
    profiles, projects, begun, cost_codes, time_types
  from builder,
    lateral (select array_agg(id order by id) as profiles from person_profile where builder_id = builder.id),
    lateral (select array_agg(id order by created_at, id) as projects, array_agg(created_at order by created_at, id) as begun
      from project where builder_id = builder.id and status <> 'UPCOMING'),
    lateral (select array_agg(id order by code) as cost_codes from timesheet_cost_code where builder_id = builder.id),
    lateral (select array_agg(id order by name <> $1::text, name) as time_types
      from timesheet_time_type where builder_id = builder.id)
  where profiles is not null and projects is not null
)`;

const BEGIN = BASE - HISTORY_DAYS * DAY;
/** Whole weeks, which start on a Saturday like the history. */
const DAYS = HISTORY_DAYS - (HISTORY_DAYS % 7);

/**
 * Parameters: usual time type, first and last number, first number and count of the range, region, notes. `offset 0` prevents PostgreSQL
 * from inlining a subquery and evaluating its columns repeatedly.
 */
const INSERT = `${POOL},
numbered as (
  select n % builders as builder_index, n / builders as round, md5($6::text || ' timesheet ' || n) as digest,
    least((n - $4::bigint) * ${DAYS} / $5::bigint, ${DAYS - 1}) as day
  from generate_series($2::bigint, $3::bigint) n, (select count(*) as builders from pool)
  where builders > 0
  offset 0
),
dated as (
  select builder_index, round, digest, ${[0, 1, 2, 3].map((index) => `${bits(index)} as choice${index}`).join(', ')},
    -- A day of the weekend becomes the Monday after.
    ${BEGIN} + (day + greatest(0, 2 - day % 7)) * ${DAY} as worked,
    day >= ${DAYS - 21} as is_recent
  from numbered
  offset 0
),
chosen as (
  select pool.*, digest, choice0, choice1, choice2, choice3, ${instant('worked')} as worked,
    profiles[1 + round % cardinality(profiles)] as profile_id,
    worked + ${7 * 3_600_000} + choice2 * 150 as created,
    ${instant(`worked + ${7 * 3_600_000} + choice2 * 150`)} as created_at,
    worked - (worked / ${DAY} + 3) % 7 * ${DAY} as week,
    case
      when choice3 % 100 < 8 or is_recent and choice3 % 100 < 80 then 'WAITING_REVIEW'
      when choice3 % 100 < 12 then 'REJECTED'
      when choice3 % 100 < 30 or is_recent then 'APPROVED_1'
      else 'APPROVED_2'
    end as status
  from dated join pool using (builder_index)
  offset 0
),
inserted as (
insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, cost_code_id, time_type_id, status,
  date, hours, notes, timesheet_group_id)
select '${ID_PREFIXES.timesheet}_a' || ${base36('created')} || left(digest, 16),
  created_at,
  case when status = 'WAITING_REVIEW' then created_at
    else least(created_at + (1 + choice1 % 5) * interval '1 day', timestamptz '${toBaseDay(0)}') end,
  builder_id,
  projects[1 + choice0 % greatest(1, width_bucket(worked, begun))],
  profile_id,
  case when choice1 % 20 > 0 then cost_codes[1 + choice2 % cardinality(cost_codes)] end,
  time_types[case when choice0 % 5 > 0 then 1 else 1 + choice3 % cardinality(time_types) end],
  status,
  worked,
  ('{7.6,8,8,8,7.5,8.5,9,6,4}'::double precision[])[1 + choice1 % 9],
  case when choice2 % 4 = 0 then ($7::text[])[1 + choice3 % cardinality($7::text[])] end,
  case when choice3 % 10 > 0 then '${ID_PREFIXES.timesheetGroup}_a' || left(md5(profile_id || week), 25) end
from chosen
on conflict (id) do nothing
returning ${countedColumns(LIST).join(', ')}
),
${toCounterInsertSql(LIST, 'select *, 1 as added from inserted')}
select count(*)::int as count from inserted`;
