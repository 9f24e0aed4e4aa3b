import pg from 'pg';
import { INTERNAL_SCOPES, SCOPES } from '../../schema/scopes.ts';
import { rebuildTotals } from '../../src/database/write/list-counters.ts';
import { type DataSet, loadData } from './data.ts';
import { id, PROJECTS, SUBCONTRACTORS } from './data-site.ts';
import { say } from './stage.ts';

/** Sees every builder, through GraphQL. */
export const INTERNAL_CLIENT = 'cli_growth';

export const BUILDERS = 20;
/** Projects of each builder that photos and visits are of. */
const BUSY = 5;
/** Photo folders of each builder. */
const FOLDERS = 4;
/** Added to the numbers of rows in tables of which the base data have some. */
const BASE_ROWS = 100_000;
const CHUNK = 500_000;

export interface GrowthData extends DataSet {
  photoId: string;
  folderId: string;
  timesheetId: string;
  costCodeId: string;
}

/** Rows in all, spread evenly over the builders. */
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

const BEGIN = `'2025-01-06T00:00:00Z'::timestamptz`;
/** Whatever the size, the rows lie within two years. */
const instant = (n: string, count: number) => `${BEGIN} + (${n})::float8 / ${count} * interval '730 days'`;

/** Fills an empty database, the same way each time; what is there already is left as it is. */
export async function growTo(url: string, size: GrowthSize): Promise<GrowthData> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('create table if not exists growth_data (data jsonb)');
    await client.query(`insert into oauth_client (id, created_at, updated_at, name, type, internal, grants, scopes)
      values ('${INTERNAL_CLIENT}', now(), now(), 'Dashboards', 'CONFIDENTIAL', true, '{client_credentials}',
        '{${[...SCOPES, ...INTERNAL_SCOPES].join()}}') on conflict do nothing`);
    const { rows } = await client.query('select data from growth_data');
    if (rows.length > 0) return rows[0].data;
    const base = await loadData(url, { builders: BUILDERS, timesheets: 0 });
    await client.query('delete from photo');
    await client.query(`insert into usage_day (integrator_id, date, requests, errors, rejections)
      select id, day, 1000, 1, 10 from integrator, generate_series(date '2025-11-16', date '2026-12-20', interval '1 day') day`);
    await client.query(`insert into photo_folder (id, created_at, updated_at, builder_id, name)
      select ${id('fold', 'n')}, ${BEGIN}, ${BEGIN}, ${id('buil', `(n - 1) / ${FOLDERS} + 1`)}, 'Level ' || n
      from generate_series(1, ${BUILDERS * FOLDERS}) n`);
    const indexes = await dropIndexes(client);
    await fillTables(url, size);
    // Built at once from sorted rows, they take a third of the time and half of the disk.
    await client.query(`set maintenance_work_mem = '1GB'`);
    for (const definition of indexes) {
      say(definition);
      await client.query(definition);
    }
    await rebuildTotals({ url });
    await client.query('vacuum analyze');
    await client.query('checkpoint');
    const { rows: first } = await client.query(
      `select ${id('att', '20')} as "photoId", ${id('fold', '1')} as "folderId", ${id('ts', '20')} as "timesheetId",
        ${id('tscc', '1')} as "costCodeId"`,
    );
    const data = { ...base, ...first[0] };
    await client.query('insert into growth_data values ($1)', [JSON.stringify(data)]);
    return data;
  } finally {
    await client.end();
  }
}

/** Drops the indexes of the tables that are filled, except those of constraints. Returns their definitions. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
      where i.indrelid = any($1::regclass[]) and not exists (select from pg_constraint where conindid = i.indexrelid)`,
    [Object.keys(TABLES).filter((table) => table !== 'visit')],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

/** Fills the tables, two at a time: PostgreSQL uses one processor for each connection. */
async function fillTables(url: string, size: GrowthSize): Promise<void> {
  const tables = Object.entries(TABLES);
  const fillNext = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // The rows are right by construction.
    await client.query('set session_replication_role = replica');
    for (let next = tables.shift(); next; next = tables.shift()) {
      const [table, rowsOf] = next;
      const count = size[`${table}s` as keyof GrowthSize] ?? 0;
      for (let first = 1; first <= count; first += CHUNK) {
        const last = Math.min(first + CHUNK - 1, count);
        await client.query(rowsOf(first, last, count));
        say(`${table}: ${last} of ${count}`);
      }
    }
    await client.end();
  };
  await Promise.all([fillNext(), fillNext()]);
}

type RowsOf = (first: number, last: number, count: number) => string;

const numbered = (first: number, last: number) =>
  `(select n, n % ${BUILDERS} as b, n / ${BUILDERS} as k from generate_series(${first}, ${last}) n) numbered`;

/** The last photo of each builder is its only one of the source `ITP`. */
const photoSource = (count: number) =>
  `case when n > ${count - BUILDERS} then 'ITP' when k % 10 > 0 then 'GALLERY' else 'SITE_DIARY' end`;

/** The first row of each builder, and one of 1,000 others, have the rare status. */
const rareStatus = (rare: string, others: string[]) =>
  `case when n <= ${BUILDERS} or k % 1000 = 999 then '${rare}'
     else (array['${others.join("', '")}'])[k / 7 % ${others.length} + 1] end`;

const TABLES: Record<string, RowsOf> = {
  timesheet: (first, last, count) => `
    insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, cost_code_id, time_type_id,
        status, date, hours, notes, timesheet_group_id)
      select ${id('ts', 'n')}, ${instant('n', count)}, ${instant('n', count)}, ${id('buil', 'b + 1')},
        ${id('proj', `b * ${PROJECTS} + k % ${PROJECTS} + 1`)}, ${id('pers', 'b * 100 + k % 100 + 1')},
        case when n % 10 > 0 then ${id('tscc', 'b * 20 + k % 20 + 1')} end,
        case when n % 12 > 0 then ${id('tstt', 'b * 4 + k % 4 + 1')} end,
        (array['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'])[k / 7 % 4 + 1],
        date_trunc('day', ${instant('n', count)}), 4 + n % 17 * 0.25, case when n % 3 = 0 then 'Poured slab ' || n end,
        ${id('tsg', 'n / 100')}
      from ${numbered(first, last)}`,
  photo: (first, last, count) => `
    insert into photo (id, created_at, updated_at, builder_id, project_id, source, file_name, content_type, key, file_size,
        description, sort_date, folder_id, integrator_id, source_app, page_external_source_id, external_source_id)
      select ${id('att', 'n')}, ${instant('n', count)}, ${instant('n', count)}, ${id('buil', 'b + 1')},
        ${id('proj', `b * ${PROJECTS} + k % ${BUSY} + 1`)}, ${photoSource(count)},
        'IMG ' || n || '.jpg', 'image/jpeg', 'photos/' || ${id('buil', 'b + 1')} || '/' || md5('photo' || n) || '.jpg',
        2000000 + n % 500000, case when k % 3 = 0 then 'Level ' || k % 12 end, ${instant('n', count)},
        case when k % 3 = 0 then ${id('fold', `b * ${FOLDERS} + k / 3 % ${FOLDERS} + 1`)} end, 'intg_bench', 'walker', 'page ' || n / 200, n::text
      from ${numbered(first, last)}`,
  meeting: (first, last, count) => `
    insert into meeting (id, created_at, updated_at, builder_id, project_id, title, date, status)
      select ${id('meet', 'n')}, ${instant('n', count)}, ${instant('n', count)}, ${id('buil', 'b + 1')},
        ${id('proj', `b * ${PROJECTS} + k % ${PROJECTS} + 1`)}, 'Weekly site meeting ' || n,
        ${instant('n', count)} + k % 72 * interval '1 hour', ${rareStatus('DISTRIBUTED', ['DRAFT', 'RUNNING', 'COMPLETED'])}
      from ${numbered(first, last)}`,
  defect: (first, last, count) => `
    insert into defect (id, created_at, updated_at, identifier, builder_id, project_id, title, status, priority)
      select ${id('defect', 'n')}, ${instant('n', count)}, ${instant('n', count)}, 1000 + k, ${id('buil', 'b + 1')},
        ${id('proj', `b * ${PROJECTS} + k % ${PROJECTS} + 1`)}, 'Crack ' || n,
        ${rareStatus('IN_PROGRESS', ['OPEN', 'READY_FOR_REVIEW', 'CLOSED'])}, 'LOW'
      from ${numbered(first, last)}`,
  induction: (first, last, count) => `
    insert into induction (id, created_at, updated_at, builder_id, project_id, worker_id, subcontractor_id, identifier, type, status)
      select ${id('ind', `n + ${BASE_ROWS}`)}, ${instant('n', count)}, ${instant('n', count)}, ${id('buil', 'b + 1')},
        ${id('proj', `b * ${PROJECTS} + k % ${PROJECTS} + 1`)}, ${id('wkr', 'b * 500 + k % 500 + 1')},
        ${id('sub', `b * ${SUBCONTRACTORS} + k / 5 % ${SUBCONTRACTORS} + 1`)}, 1000 + k, 'PROJECT_INDUCTION',
        (array['REVIEWED', 'WAITING_REVIEW', 'CHANGES_REQUESTED', 'REVIEWED'])[k / 7 % 4 + 1]
      from ${numbered(first, last)}`,
  subcontractor: (first, last, count) => `
    insert into subcontractor (id, created_at, updated_at, builder_id, name)
      select ${id('sub', `n + ${BASE_ROWS}`)}, ${instant('n', count)}, ${instant('n', count)}, ${id('buil', 'b + 1')}, 'Concreters ' || n
      from ${numbered(first, last)}`,
  photo_folder: (first, last, count) => `
    insert into photo_folder (id, created_at, updated_at, builder_id, project_id, name)
      select ${id('fold', `n + ${BASE_ROWS}`)}, ${instant('n', count)}, ${instant('n', count)}, ${id('buil', 'b + 1')},
        ${id('proj', `b * ${PROJECTS} + k % ${BUSY} + 1`)}, 'Room ' || n
      from ${numbered(first, last)}`,
  visit: (first, last, count) => `
    insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at, signed_off_at)
      select ${id('signon', 'n')}, ${instant('n', count)}, ${instant('n', count)}, ${id('buil', 'b + 1')},
        ${id('proj', `b * ${PROJECTS} + k % ${BUSY} + 1`)}, ${id('wkr', `b * 500 + k % 500 + 1`)}, ${instant('n', count)},
        case when n <= ${count} - 200 then ${instant('n', count)} + interval '8 hours' end
      from ${numbered(first, last)};
    insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id, source_event_id,
        type, occurred_at, status, visit_id)
      select replace(id, 'signon_', 'saevt_'), created_at, updated_at, 'intg_bench', builder_id, project_id, worker_id,
        'gate ' || id, 'SIGN_ON', signed_on_at, 'APPLIED', id
      from sign_on_visit where id between ${id('signon', String(first))} and ${id('signon', String(last))}`,
};
