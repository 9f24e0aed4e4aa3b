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

  it('leave nothing to do for a second start', async () => {
    expect(await bringUpToDate(database, 'check')).toEqual([]);
  });
});
