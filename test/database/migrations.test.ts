import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/database/database.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { findAppliedMigrations, parseDestructiveChanges, planRollback } from '../../src/database/rollback-migration.ts';
import {
  PendingMigrationsError,
  retryOnLockTimeout,
  rollbackLast,
  runPendingMigrations,
} from '../../src/database/run-migrations.ts';
import { createDatabase } from '../setup/database.ts';

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;

beforeAll(async () => {
  createdDatabase = await createDatabase('template1');
  database = new Database('au1', createdDatabase.url);
});

afterAll(async () => {
  await database.close();
  await createdDatabase.drop();
});

const rollBack = () => rollbackLast(database, { destroyData: true });

const listTables = async () =>
  (
    await database
      .fork()
      .execute("select table_name from information_schema.tables where table_schema = 'public' order by 1")
  ).map((row) => (row as { table_name: string }).table_name);

/** Milliseconds that grow with the number of migrations, each of which takes seconds on a loaded machine. */
const timeout = 20_000 + 5_000 * migrations.length;

describe('the migrations', { timeout }, () => {
  it('stop the start in the mode `check` while one is pending', async () => {
    await expect(runPendingMigrations(database, 'check')).rejects.toThrow(PendingMigrationsError);
  });

  it('run once when several processes start at once', async () => {
    const databases = Array.from({ length: 5 }, () => new Database('au1', createdDatabase.url));
    const applied = await Promise.all(databases.map((database) => runPendingMigrations(database, 'auto')));
    expect(applied.flat()).toHaveLength(migrations.length);
    await Promise.all(databases.map((database) => database.close()));
  });

  it('create exactly the schema of the entities', async () => {
    expect(await database.orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
  });

  it('can all be rolled back and applied again', async () => {
    const before = await listTables();
    while ((await rollBack()).length > 0);
    expect(await listTables()).toEqual(['mikro_orm_migrations']);
    await runPendingMigrations(database, 'auto');
    expect(await listTables()).toEqual(before);
    expect(await database.orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
  });

  it('destroy nothing at rollback that `migrate down` does not announce', async () => {
    const columns = async () =>
      (await database
        .fork()
        .execute(
          `select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'public'`,
        )) as { name: string }[];
    for (const { name } of migrations.toReversed()) {
      const found = migrations.find((migration) => migration.name === name)!;
      const migration = new found(database.orm.em.getDriver(), database.orm.config);
      await migration.down();
      const removals = migration.getQueries().flatMap((query) => parseDestructiveChanges(String(query)));
      const before = await columns();
      expect(await rollBack()).toEqual([name]);
      const after = new Set((await columns()).map((column) => column.name));
      const removed = before.map((column) => column.name).filter((column) => !after.has(column));
      const isAnnounced = (path: string) =>
        removals.some(
          ({ table, column }) => path === `${table}.${column}` || (!column && path.startsWith(`${table}.`)),
        );
      expect(removed.filter((path) => !isAnnounced(path))).toEqual([]);
    }
    expect(await planRollback(database)).toBeNull();
    await runPendingMigrations(database, 'auto');
  });

  it('are not rolled back when rows are lost, unless data may be destroyed', async () => {
    const em = database.fork();
    await em.execute(`insert into builder (id, created_at, updated_at, name) values ('buil_kept', now(), now(), 'K')`);
    while ((await findAppliedMigrations(database)).length > 1) await rollbackLast(database, { destroyData: false });
    await expect(rollbackLast(database, { destroyData: false })).rejects.toThrow(
      /^Rolling back Migration\w+Initial in au1 destroys 1 rows of builder: add --destroy-data to do it\.$/,
    );
    expect(await em.execute('select id from builder')).toEqual([{ id: 'buil_kept' }]);
    expect(await rollBack()).toHaveLength(1);
    await runPendingMigrations(database, 'auto');
  });

  it('count the rows that existed before the counters, also when they are interrupted and run again', async () => {
    while ((await rollBack()).length > 0);
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
    await runPendingMigrations(database, 'auto');
    await execute(`delete from mikro_orm_migrations where name = '${indexes}'`);
    expect(await runPendingMigrations(database, 'auto')).toEqual([indexes]);
    expect(await execute(`select project_id, sum(added)::int as added from list_total group by 1 order by 1`)).toEqual([
      { project_id: 'proj_1', added: 5 },
      { project_id: 'proj_2', added: 3 },
    ]);
  });

  it('do not block a writer, and are retried after it', async () => {
    // Down to before the list totals.
    for (let count = 1; count < migrations.length; count++) await rollBack();
    const writer = new pg.Client({ connectionString: createdDatabase.url });
    await writer.connect();
    await writer.query(`begin; update timesheet set hours = 2 where id = 'ts_2'`);
    const migrating = runPendingMigrations(database, 'auto');
    const waiting = `select from pg_locks where not granted and relation = 'timesheet'::regclass`;
    while ((await writer.query(waiting)).rowCount === 0);
    while ((await writer.query(waiting)).rowCount! > 0);
    await writer.query('commit');
    await writer.end();
    expect(await migrating).toHaveLength(migrations.length - 1);
  });

  it('fail with the reason when a table stays locked', async () => {
    const [holder, waiter] = [1, 2].map(() => new pg.Client({ connectionString: createdDatabase.url })) as [
      pg.Client,
      pg.Client,
    ];
    await Promise.all([holder.connect(), waiter.connect()]);
    await holder.query('begin; lock table timesheet in access exclusive mode');
    await waiter.query(`set lock_timeout = '20ms'`);
    let attempts = 0;
    const migrate = () => {
      // Ends the test if it would retry without limit.
      if (++attempts > 10) throw new Error('It tried ten times.');
      return waiter.query('alter table timesheet add column never text');
    };
    await expect(retryOnLockTimeout(migrate, 3, 1)).rejects.toMatchObject({ code: '55P03' });
    expect(attempts).toBe(3);
    await Promise.all([holder.end(), waiter.end()]);
  });

  it('leave nothing pending for a second start', async () => {
    expect(await runPendingMigrations(database, 'check')).toEqual([]);
  });
});

describe('parseDestructiveChanges', () => {
  it.each([
    ['drop table if exists "photo" cascade;', [['photo', null]]],
    [
      'drop table "a", public."b";',
      [
        ['a', null],
        ['b', null],
      ],
    ],
    ['truncate meeting', [['meeting', null]]],
    ['delete from "meeting" where true', [['meeting', null]]],
    [
      'alter table "meeting" drop column "agenda", drop column "notes";',
      [
        ['meeting', 'agenda'],
        ['meeting', 'notes'],
      ],
    ],
    ['alter table "public"."meeting" alter column "date" type date using ("date"::date);', [['meeting', 'date']]],
    ['alter table "meeting" add column "agenda" text; drop index "a"; drop trigger "b" on "meeting";', []],
  ])('finds the removals of %s', (sql, removed) => {
    expect(parseDestructiveChanges(sql).map(({ table, column }) => [table, column])).toEqual(removed);
  });
});
