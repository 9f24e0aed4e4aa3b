import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/database/database.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { retryOnLockTimeout, runPendingMigrations, SchemaMismatchError } from '../../src/database/run-migrations.ts';
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

  it('give each table a key, without which a publication of all tables rejects deletions', async () => {
    const withoutKey = `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not exists (select from pg_index where indrelid = pg_class.oid and indisprimary)`;
    expect(await database.fork().execute(withoutKey)).toEqual([]);
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
