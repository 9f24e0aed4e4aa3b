import pg from 'pg';
import { INTERNAL_SCOPES, SCOPES } from '../../schema/scopes.ts';
import { rebuildTotals } from '../../src/database/write/list-counters.ts';
import { type BenchData, loadBenchData } from './bench-data.ts';
import { logProgress } from './bench-environment.ts';
import { PROJECTS_PER_BUILDER, SUBCONTRACTORS_PER_BUILDER, toIdExpression } from './builder-data.ts';

/** Client that can read every builder, through GraphQL. */
export const INTERNAL_CLIENT = 'cli_growth';

export const BUILDERS = 20;
/** The first builder is large: it has one of so many rows. */
const LARGE_SHARE = 4;
/** People of the large builder. */
const PEOPLE = 2_000;
/** Projects of each builder that have photos and visits. */
const PROJECTS_WITH_PHOTOS = 5;
/** Photo folders of each builder. */
const FOLDERS_PER_BUILDER = 4;
/** Offset of the row numbers in tables that contain base data, so that ids do not collide. */
const ID_OFFSET = 100_000;
/** Rows of one insert statement. */
const CHUNK_ROWS = 500_000;

/** Ids that the requests need. */
export interface GrowthData extends BenchData {
  photoId: string;
  folderId: string;
  timesheetId: string;
  costCodeId: string;
}

/** Days that the rows are created on, evenly. */
interface GrowthPeriod {
  /** First day, in UTC: `2022-01-03`. */
  begin: string;
  days: number;
}

/** Total rows by table. A quarter is of the first builder, and the others have the rest evenly. */
export interface GrowthSize {
  timesheets: number;
  photos: number;
  visits: number;
  meetings?: number;
  defects?: number;
  inductions?: number;
  subcontractors?: number;
  photo_folders?: number;
}

const BEGIN = `'2022-01-03T00:00:00Z'::timestamptz`;

/** Fills an empty database with deterministic data and returns their ids. A database that has been filled is not changed. */
export async function loadGrowthData(url: string, size: GrowthSize, period: GrowthPeriod): Promise<GrowthData> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('create table if not exists growth_data (data jsonb)');
    await client.query(`insert into oauth_client (id, created_at, updated_at, name, type, internal, grants, scopes)
      values ('${INTERNAL_CLIENT}', now(), now(), 'Dashboards', 'CONFIDENTIAL', true, '{client_credentials}',
        '{${[...SCOPES, ...INTERNAL_SCOPES].join()}}') on conflict do nothing`);
    const { rows } = await client.query('select data from growth_data');
    if (rows.length > 0) return rows[0].data;
    const base = await loadBenchData(url, { builders: BUILDERS, timesheets: 0 });
    await client.query('delete from photo');
    await client.query(`insert into usage_day (integrator_id, date, client_id, operation, requests, rejections, failures)
      select integrator_id, day, id, 'GET /operation/' || n, 100, 1, 1 from oauth_client, generate_series(1, 10) n, generate_series(date '2025-11-16', date '2026-12-20', interval '1 day') day
      where integrator_id is not null`);
    await client.query(`insert into photo_folder (id, created_at, updated_at, builder_id, name)
      select ${toIdExpression('fold', 'n')}, ${BEGIN}, ${BEGIN}, ${toIdExpression('buil', `(n - 1) / ${FOLDERS_PER_BUILDER} + 1`)}, 'Level ' || n
      from generate_series(1, ${BUILDERS * FOLDERS_PER_BUILDER}) n`);
    await client.query(`insert into person_profile (id, builder_id, full_name, type)
      select ${toIdExpression('pers', `n + ${ID_OFFSET}`)}, ${toIdExpression('buil', '1')}, 'Person ' || n, 'worker' from generate_series(1, ${PEOPLE}) n`);
    const indexes = await dropIndexes(client);
    await fillTables(url, size, period);
    // Indexes that are built from all rows take a third of the time and half of the disk space.
    await client.query(`set maintenance_work_mem = '1GB'`);
    for (const definition of indexes) {
      logProgress(definition);
      await client.query(definition);
    }
    await rebuildTotals({ url });
    await client.query('vacuum analyze');
    await client.query('checkpoint');
    const { rows: ids } = await client.query(
      `select ${toIdExpression('att', '20')} as "photoId", ${toIdExpression('fold', '1')} as "folderId", ${toIdExpression('ts', '20')} as "timesheetId",
        ${toIdExpression('tscc', '1')} as "costCodeId"`,
    );
    const data = { ...base, ...ids[0] };
    await client.query('insert into growth_data values ($1)', [JSON.stringify(data)]);
    return data;
  } finally {
    await client.end();
  }
}

/** Drops the indexes of the filled tables, except those of constraints. Returns their definitions. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
      where i.indrelid = any($1::regclass[]) and not exists (select from pg_constraint where conindid = i.indexrelid)`,
    [Object.keys(TABLES).filter((table) => table !== 'visit')],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

/** Fills the tables on two connections: PostgreSQL uses one processor per connection. */
async function fillTables(url: string, size: GrowthSize, period: GrowthPeriod): Promise<void> {
  const tables = Object.entries(TABLES);
  const fillNext = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // Skips triggers and foreign keys: the generated rows are consistent.
    await client.query('set session_replication_role = replica');
    for (let next = tables.shift(); next; next = tables.shift()) {
      const [table, createInsert] = next;
      const count = size[`${table}s` as keyof GrowthSize] ?? 0;
      for (let first = 1; first <= count; first += CHUNK_ROWS) {
        const last = Math.min(first + CHUNK_ROWS - 1, count);
        await client.query(createInsert(first, last, count, createTimeExpression(period, count)));
        logProgress(`${table}: ${last} of ${count}`);
      }
    }
    await client.end();
  };
  await Promise.all([fillNext(), fillNext()]);
}

/** Returns the SQL expression of a row's time, from its number `n`. */
const createTimeExpression = ({ begin, days }: GrowthPeriod, count: number) =>
  `'${begin}T00:00:00Z'::timestamptz + n::float8 / ${count} * interval '${days} days'`;

/** Returns the statement that inserts a range of rows. `count` is the total number of rows, `time` the SQL expression of a row's time. */
type CreateInsert = (first: number, last: number, count: number, time: string) => string;

/** Subquery of row numbers `n` with the number of the builder `b` and the row number within the builder `k`. */
const selectRowNumbers = (first: number, last: number) =>
  `(select n, case when n % ${LARGE_SHARE} = 0 then 0 else 1 + n % ${BUILDERS - 1} end as b,
     n / case when n % ${LARGE_SHARE} = 0 then ${LARGE_SHARE} else ${BUILDERS - 1} end as k from generate_series(${first}, ${last}) n) numbered`;

/** Returns the SQL expression of a photo's source. Only the last photo of the large builder has the source `ITP`. */
const toPhotoSourceExpression = (count: number) =>
  `case when n > ${count - LARGE_SHARE} then 'ITP' when k % 10 > 0 then 'GALLERY' else 'SITE_DIARY' end`;

/** Returns the SQL expression of a status: the first row of the large builder and one row in 1,000 have the rare status. */
const toStatusExpression = (rare: string, others: string[]) =>
  `case when n <= ${LARGE_SHARE} or k % 1000 = 999 then '${rare}'
     else (array['${others.join("', '")}'])[k / 7 % ${others.length} + 1] end`;

/** Insert statements by table; the keys are the singular forms of the keys of `GrowthSize`. */
const TABLES: Record<string, CreateInsert> = {
  timesheet: (first, last, _count, time) => `
    insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, cost_code_id, time_type_id,
        status, date, hours, notes, timesheet_group_id)
      select ${toIdExpression('ts', 'n')}, ${time}, ${time}, ${toIdExpression('buil', 'b + 1')},
        ${toIdExpression('proj', `b * ${PROJECTS_PER_BUILDER} + k % ${PROJECTS_PER_BUILDER} + 1`)}, ${toIdExpression('pers', `case b when 0 then ${ID_OFFSET} + k % ${PEOPLE} + 1 else b * 100 + k % 100 + 1 end`)},
        case when n % 10 > 0 then ${toIdExpression('tscc', 'b * 20 + k % 20 + 1')} end,
        case when n % 12 > 0 then ${toIdExpression('tstt', 'b * 4 + k % 4 + 1')} end,
        (array['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'])[k / 7 % 4 + 1],
        date_trunc('day', ${time}), 4 + n % 17 * 0.25, case when n % 3 = 0 then 'Poured slab ' || n end,
        ${toIdExpression('tsg', 'n / 100')}
      from ${selectRowNumbers(first, last)}`,
  photo: (first, last, count, time) => `
    insert into photo (id, created_at, updated_at, builder_id, project_id, source, file_name, content_type, key, file_size,
        description, sort_date, folder_id, integrator_id, source_app, page_external_source_id, external_source_id)
      select ${toIdExpression('att', 'n')}, ${time}, ${time}, ${toIdExpression('buil', 'b + 1')},
        ${toIdExpression('proj', `b * ${PROJECTS_PER_BUILDER} + k % ${PROJECTS_WITH_PHOTOS} + 1`)}, ${toPhotoSourceExpression(count)},
        'IMG ' || n || '.jpg', 'image/jpeg', 'photos/' || ${toIdExpression('buil', 'b + 1')} || '/' || md5('photo' || n) || '.jpg',
        2000000 + n % 500000, case when k % 3 = 0 then 'Level ' || k % 12 end, ${time},
        case when k % 3 = 0 then ${toIdExpression('fold', `b * ${FOLDERS_PER_BUILDER} + k / 3 % ${FOLDERS_PER_BUILDER} + 1`)} end, 'intg_bench', 'walker', 'page ' || n / 200, n::text
      from ${selectRowNumbers(first, last)}`,
  meeting: (first, last, _count, time) => `
    insert into meeting (id, created_at, updated_at, builder_id, project_id, title, date, status)
      select ${toIdExpression('meet', 'n')}, ${time}, ${time}, ${toIdExpression('buil', 'b + 1')},
        ${toIdExpression('proj', `b * ${PROJECTS_PER_BUILDER} + k % ${PROJECTS_PER_BUILDER} + 1`)}, 'Weekly site meeting ' || n,
        ${time} + k % 72 * interval '1 hour', ${toStatusExpression('DISTRIBUTED', ['DRAFT', 'RUNNING', 'COMPLETED'])}
      from ${selectRowNumbers(first, last)}`,
  defect: (first, last, _count, time) => `
    insert into defect (id, created_at, updated_at, identifier, builder_id, project_id, title, status, priority)
      select ${toIdExpression('defect', 'n')}, ${time}, ${time}, 1000 + k, ${toIdExpression('buil', 'b + 1')},
        ${toIdExpression('proj', `b * ${PROJECTS_PER_BUILDER} + k % ${PROJECTS_PER_BUILDER} + 1`)}, 'Crack ' || n,
        ${toStatusExpression('IN_PROGRESS', ['OPEN', 'READY_FOR_REVIEW', 'CLOSED'])}, 'LOW'
      from ${selectRowNumbers(first, last)}`,
  induction: (first, last, _count, time) => `
    insert into induction (id, created_at, updated_at, builder_id, project_id, worker_id, subcontractor_id, identifier, type, status)
      select ${toIdExpression('ind', `n + ${ID_OFFSET}`)}, ${time}, ${time}, ${toIdExpression('buil', 'b + 1')},
        ${toIdExpression('proj', `b * ${PROJECTS_PER_BUILDER} + k % ${PROJECTS_PER_BUILDER} + 1`)}, ${toIdExpression('wkr', 'b * 500 + k % 500 + 1')},
        ${toIdExpression('sub', `b * ${SUBCONTRACTORS_PER_BUILDER} + k / 5 % ${SUBCONTRACTORS_PER_BUILDER} + 1`)}, 1000 + k, 'PROJECT_INDUCTION',
        (array['REVIEWED', 'WAITING_REVIEW', 'CHANGES_REQUESTED', 'REVIEWED'])[k / 7 % 4 + 1]
      from ${selectRowNumbers(first, last)}`,
  subcontractor: (first, last, _count, time) => `
    insert into subcontractor (id, created_at, updated_at, builder_id, name)
      select ${toIdExpression('sub', `n + ${ID_OFFSET}`)}, ${time}, ${time}, ${toIdExpression('buil', 'b + 1')}, 'Concreters ' || n
      from ${selectRowNumbers(first, last)}`,
  photo_folder: (first, last, _count, time) => `
    insert into photo_folder (id, created_at, updated_at, builder_id, project_id, name)
      select ${toIdExpression('fold', `n + ${ID_OFFSET}`)}, ${time}, ${time}, ${toIdExpression('buil', 'b + 1')},
        ${toIdExpression('proj', `b * ${PROJECTS_PER_BUILDER} + k % ${PROJECTS_WITH_PHOTOS} + 1`)}, 'Room ' || n
      from ${selectRowNumbers(first, last)}`,
  visit: (first, last, count, time) => `
    insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at, signed_off_at)
      select ${toIdExpression('signon', 'n')}, ${time}, ${time}, ${toIdExpression('buil', 'b + 1')},
        ${toIdExpression('proj', `b * ${PROJECTS_PER_BUILDER} + k % ${PROJECTS_WITH_PHOTOS} + 1`)}, ${toIdExpression('wkr', `b * 500 + k % 500 + 1`)}, ${time},
        case when n <= ${count} - 200 then ${time} + interval '8 hours' end
      from ${selectRowNumbers(first, last)};
    insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id, source_event_id,
        type, occurred_at, status, visit_id)
      select replace(id, 'signon_', 'saevt_'), created_at, updated_at, 'intg_bench', builder_id, project_id, worker_id,
        'gate ' || id, 'SIGN_ON', signed_on_at, 'APPLIED', id
      from sign_on_visit where id between ${toIdExpression('signon', String(first))} and ${toIdExpression('signon', String(last))}`,
};
