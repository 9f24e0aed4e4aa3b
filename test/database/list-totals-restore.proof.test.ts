import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { exportFolder } from '../../src/data-transfer/export.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { Database } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { createDemoFile } from '../../src/demo/demo-file.ts';
import { populateDatabase } from '../../src/demo/load.ts';
import { type Cluster, openCluster } from '../../src/dev-postgres/cluster.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { createDatabase } from '../setup/database.ts';
import { BASE } from '../support/load-demo.ts';

/** Selects totals that differ from `count(*)` in the same snapshot. */
const SELECT_WRONG_TOTALS = `
  select list, builder_id, project_id, kind, sum(kept)::int as kept, sum(counted)::int as counted from (
    select list, builder_id, project_id, kind, added as kept, 0 as counted from public.list_total where parent_id is null
    union all select 'timesheet', builder_id, project_id, status, 0, 1 from public.timesheet
    union all select 'photo', builder_id, project_id, source, 0, 1 from public.photo where archived_at is null
    union all select 'meeting', builder_id, project_id, status, 0, 1 from public.meeting
    union all select 'defect', builder_id, project_id, status, 0, 1 from public.defect
    union all select 'induction', builder_id, project_id, status, 0, 1 from public.induction
    union all select 'subcontractor', builder_id, null, is_builder::text, 0, 1 from public.subcontractor where archived_at is null) side_by_side
  group by 1, 2, 3, 4 having sum(kept) <> sum(counted)`;

/** Rows on which timesheets and photos depend, then those of two statuses and sources, one of them archived. */
const PARENTS = `
  insert into public.builder (id, created_at, updated_at, name) values ('buil_a', now(), now(), 'A');
  insert into public.project (id, created_at, updated_at, builder_id, status, name)
    values ('proj_a', now(), now(), 'buil_a', 'COMPLETE', 'A');
  insert into public.person_profile (id, builder_id, full_name, type) values ('pers_a', 'buil_a', 'A', 'worker');`;
const TIMESHEETS = `
  insert into public.timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours)
    select 'ts_' || n, now(), now(), 'buil_a', 'proj_a', 'pers_a', (array['APPROVED_1', 'REJECTED'])[1 + n % 2], now(), 1
    from generate_series(1, 9) n;`;

const query = async (url: string, sql: string): Promise<pg.QueryResult> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(sql).finally(() => client.end());
};

describe('the functions of the kept totals', () => {
  it('have a fixed search path and run by ordinary triggers', async () => {
    const { empty } = inject('cluster');
    const made = await createDatabase(empty);
    // Names in a body of standard SQL are resolved when the function is created.
    const functions = `select proname from pg_proc where pronamespace = 'public'::regnamespace and prosqlbody is null
      and not coalesce(proconfig::text like '%search_path=%', false)`;
    const always = `select tgname from pg_trigger where not tgisinternal and tgenabled <> 'O'`;
    expect((await query(made.url, functions)).rows).toEqual([]);
    expect((await query(made.url, always)).rows).toEqual([]);
    await made.drop();
  });
});

describe('a restore of data alone', () => {
  let source: Awaited<ReturnType<typeof createDatabase>>;
  let target: Awaited<ReturnType<typeof createDatabase>>;

  beforeAll(async () => {
    source = await createDatabase(inject('cluster').templates.au1);
  });

  afterAll(() => source.drop());

  /** Restores as `pg_restore --data-only` does: an empty search path, then one COPY per table, in the order of foreign keys. */
  async function restore(before: string, after: string, role: string): Promise<void> {
    const { rows } = await query(
      source.url,
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
         and relname <> 'mikro_orm_migrations' order by oid`,
    );
    const names = rows.map(({ name }) => name as string);
    const from = new pg.Client({ connectionString: source.url });
    const to = new pg.Client({ connectionString: target.url });
    await Promise.all([from.connect(), to.connect()]);
    await to.query(`select set_config('search_path', '', false); set session_replication_role = ${role}`);
    for (const name of names) {
      const columns = `select string_agg(format('%I', column_name), ', ' order by ordinal_position) as list
        from information_schema.columns where table_schema = 'public' and table_name = '${name}' and is_generated = 'NEVER'`;
      const { list } = (await from.query(columns)).rows[0];
      const data = await from.query(`select json_agg(t) as rows from public."${name}" t`);
      await to.query(before.replaceAll('TABLE', `public."${name}"`));
      await to.query(
        `insert into public."${name}" (${list}) overriding system value
         select ${list} from json_populate_recordset(null::public."${name}", $1)`,
        [JSON.stringify(data.rows[0].rows ?? [])],
      );
      await to.query(after.replaceAll('TABLE', `public."${name}"`));
    }
    await Promise.all([from.end(), to.end()]);
  }

  const counts = `select (select count(*) from public.timesheet) as timesheets, (select count(*) from public.photo) as photos`;

  it('keeps rows and totals with --disable-triggers', async () => {
    target = await createDatabase();
    await restore('alter table TABLE disable trigger all', 'alter table TABLE enable trigger all', 'origin');
    expect((await query(target.url, counts)).rows).toEqual((await query(source.url, counts)).rows);
    expect((await query(target.url, SELECT_WRONG_TOTALS)).rows).toEqual([]);
    await target.drop();
  });

  it('keeps rows and totals in a session that replicates', async () => {
    target = await createDatabase();
    await restore('', '', 'replica');
    expect((await query(target.url, counts)).rows).toEqual((await query(source.url, counts)).rows);
    expect((await query(target.url, SELECT_WRONG_TOTALS)).rows).toEqual([]);
    await target.drop();
  });

  it('keeps the rows while triggers run, and `totals rebuild` corrects what was counted twice', async () => {
    target = await createDatabase();
    // Without rows that would require an order of the tables.
    await query(target.url, `select set_config('search_path', '', false); ${PARENTS} ${TIMESHEETS}`);
    await query(
      target.url,
      'insert into list_total (list, builder_id, project_id, kind, added) select list, builder_id, project_id, kind, added from list_total',
    );
    expect((await query(target.url, SELECT_WRONG_TOTALS)).rows).toMatchObject([{ kept: 8 }, { kept: 10 }]);
    const env = { DATABASE_URL_AU1: target.url, DATABASE_URL_US1: target.url };
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    const shell = { env, clock: systemClock, stdin: process.stdin, stdout: silent, stderr: process.stderr };
    expect(await runCli(['totals', 'rebuild', '--region', 'au1'], shell)).toBe(0);
    expect((await query(target.url, SELECT_WRONG_TOTALS)).rows).toEqual([]);
    await target.drop();
  });
});

describe('a load that leaves triggers out', () => {
  it('counts its rows itself: those that are new, and those that move', async () => {
    const [source, target] = [await createDatabase(), await createDatabase()];
    const folder = await mkdtemp(join(tmpdir(), 'builder-api-totals-'));
    const [from, to] = [new Database('au1', source.url), new Database('au1', target.url)];
    // An import of 10,000 rows or more disables triggers.
    const options = { now: BASE, timesheets: 2_500, pictures: [] };
    await populateDatabase(from, createDemoFile(['au1'], 'http://localhost:4000', 'key'), options);
    expect((await query(source.url, SELECT_WRONG_TOTALS)).rows).toEqual([]);
    await exportFolder(from, folder);
    expect(await importFolder(to, folder)).toMatchObject({ committed: true });
    expect((await query(target.url, SELECT_WRONG_TOTALS)).rows).toEqual([]);
    await query(target.url, `update timesheet set status = 'REJECTED' where id < (select max(id) from timesheet)`);
    expect(await importFolder(to, folder)).toMatchObject({ committed: true });
    expect((await query(target.url, SELECT_WRONG_TOTALS)).rows).toEqual([]);
    const statuses = 'select status, count(*)::int as count from timesheet group by 1 order by 1';
    expect((await query(target.url, statuses)).rows).toEqual((await query(source.url, statuses)).rows);
    await Promise.all([from.close(), to.close()]);
    await Promise.all([source.drop(), target.drop(), rm(folder, { recursive: true })]);
  });
});

describe('a subscriber of logical replication', () => {
  let folder: string;
  let cluster: Cluster;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'builder-api-replication-')));
    await chmod(folder, 0o711);
    cluster = await openCluster({ dataDir: folder, settings: { wal_level: 'logical', fsync: 'off' } });
  });

  afterAll(async () => {
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('receives rows and totals, each once', async () => {
    const [publisher, subscriber] = ['publisher', 'subscriber'].map((name) => cluster.url(name)) as [string, string];
    for (const [name, url] of Object.entries({ publisher, subscriber })) {
      await cluster.ensureDatabase(name);
      const database = new Database('au1', url);
      await runPendingMigrations(database, 'auto');
      await database.close();
    }
    await query(publisher, 'create publication everything for all tables');
    // Created beforehand: in one cluster, creating the slot with the subscription would wait for its own transaction.
    await query(publisher, `select pg_create_logical_replication_slot('everything', 'pgoutput')`);
    await query(
      subscriber,
      `create subscription everything connection '${publisher}' publication everything
        with (create_slot = false, slot_name = 'everything', copy_data = false)`,
    );
    await query(publisher, `${PARENTS} ${TIMESHEETS}`);
    await query(
      publisher,
      `update timesheet set status = 'APPROVED_2' where id = 'ts_1'; delete from timesheet where id = 'ts_2'`,
    );
    await vi.waitFor(
      async () =>
        expect((await query(subscriber, 'select count(*)::int as count from timesheet')).rows).toEqual([{ count: 8 }]),
      { timeout: 15_000, interval: 50 },
    );
    expect((await query(subscriber, SELECT_WRONG_TOTALS)).rows).toEqual([]);
    await query(subscriber, 'drop subscription everything');
  });
});
