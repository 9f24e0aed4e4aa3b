import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/database/database.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { findAppliedMigrations, parseDestructiveChanges, planRollback } from '../../src/database/rollback-migration.ts';
import {
  retryOnLockTimeout,
  rollbackLast,
  runPendingMigrations,
  SchemaMismatchError,
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
    await expect(runPendingMigrations(database, 'check')).rejects.toThrow(SchemaMismatchError);
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

  it('end with one line for a database of a release before 0.2.0', async () => {
    const em = database.fork();
    await em.execute(`insert into mikro_orm_migrations (name) values ('Migration20261120173400Initial')`);
    for (const mode of ['auto', 'check'] as const) {
      await expect(runPendingMigrations(database, mode)).rejects.toThrow(
        /^The database of region au1 is of a release before 0\.2\.0: export it with that release [^\n]+$/,
      );
    }
    await em.execute(`delete from mikro_orm_migrations where name = 'Migration20261120173400Initial'`);
  });

  it('leave a database alone that a later release has migrated', async () => {
    const em = database.fork();
    await em.execute(`insert into mikro_orm_migrations (name) values ('Migration29991120173400Later')`);
    expect(await runPendingMigrations(database, 'check')).toEqual([]);
    await em.execute(`delete from mikro_orm_migrations where name = 'Migration29991120173400Later'`);
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
