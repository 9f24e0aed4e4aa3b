import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/database/database.ts';
import { bringUpToDate, PendingMigrations, takeBack } from '../src/database/migrate.ts';
import { migrations } from '../src/database/migrations/index.ts';
import { createDatabase } from './setup/database.ts';

let made: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;

beforeAll(async () => {
  made = await createDatabase('template1');
  database = new Database('au1', made.url);
});

afterAll(async () => {
  await database.close();
  await made.drop();
});

const tables = async () =>
  (
    await database
      .fork()
      .execute("select table_name from information_schema.tables where table_schema = 'public' order by 1")
  ).map((row) => (row as { table_name: string }).table_name);

describe('the migrations', () => {
  it('stop the start in the mode `check` while one is pending', async () => {
    await expect(bringUpToDate(database, 'check')).rejects.toThrow(PendingMigrations);
  });

  it('run once, however many start at once', async () => {
    const starters = Array.from({ length: 5 }, () => new Database('au1', made.url));
    const applied = await Promise.all(starters.map((starter) => bringUpToDate(starter, 'auto')));
    expect(applied.flat()).toHaveLength(migrations.length);
    await Promise.all(starters.map((starter) => starter.close()));
  });

  it('make the schema of the entities, with nothing left over', async () => {
    expect(await database.orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
  });

  it('can be taken back to nothing and applied again', async () => {
    const before = await tables();
    while ((await takeBack(database)).length > 0);
    expect(await tables()).toEqual(['mikro_orm_migrations']);
    await bringUpToDate(database, 'auto');
    expect(await tables()).toEqual(before);
    expect(await database.orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
  });

  it('count what large lists held before their totals were kept, and are cut off and run again without harm', async () => {
    while ((await takeBack(database)).length > 0);
    const [initial, , indexes] = migrations.map(({ name }) => name);
    await database.orm.migrator.up({ to: initial! });
    const execute = (sql: string) => database.fork().execute(sql);
    await execute(`insert into builder (id, created_at, updated_at, name) values ('buil_a', now(), now(), 'A');
      insert into project (id, created_at, updated_at, builder_id, status, name)
        select 'proj_' || n, now(), now(), 'buil_a', 'COMPLETE', 'P' from generate_series(1, 2) n;
      insert into person_profile (id, builder_id, full_name, type) values ('pers_a', 'buil_a', 'A', 'worker');
      insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours)
        select 'ts_' || n, now(), now(), 'buil_a', 'proj_' || (n % 2 + 1), 'pers_a', 'APPROVED_1', now(), 1
        from generate_series(1, 9) n;`);
    await database.orm.migrator.up({ to: migrations[1]!.name });
    await execute(`delete from timesheet where id = 'ts_1'; update timesheet set project_id = 'proj_1' where id = 'ts_3';
      create index "timesheet_builder_id_date_index_new" on timesheet (id)`);
    await bringUpToDate(database, 'auto');
    await execute(`delete from mikro_orm_migrations where name = '${indexes}'`);
    expect(await bringUpToDate(database, 'auto')).toEqual([indexes]);
    expect(await execute(`select project_id, sum(added)::int as added from list_total group by 1 order by 1`)).toEqual([
      { project_id: 'proj_1', added: 5 },
      { project_id: 'proj_2', added: 3 },
    ]);
  });

  it('give way to a writer, and try again when it is done', async () => {
    const [, listTotals] = migrations.map(({ name }) => name);
    while ((await takeBack(database))[0] !== listTotals);
    const writer = new pg.Client({ connectionString: made.url });
    await writer.connect();
    await writer.query(`begin; update timesheet set hours = 2 where id = 'ts_2'`);
    const migrating = bringUpToDate(database, 'auto');
    const waiting = `select from pg_locks where not granted and relation = 'timesheet'::regclass`;
    while ((await writer.query(waiting)).rowCount === 0);
    while ((await writer.query(waiting)).rowCount! > 0);
    await writer.query('commit');
    await writer.end();
    expect(await migrating).toHaveLength(migrations.length - 1);
  });

  it('leave nothing to do for a second start', async () => {
    expect(await bringUpToDate(database, 'check')).toEqual([]);
  });
});
