import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/database/database.ts';
import {
  collectTableLocks,
  findMigrationLocks,
  findTableLocks,
  listStatements,
} from '../../src/database/migration-locks.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { createDatabase } from '../setup/database.ts';

/** PostgreSQL's names of the modes that block reads or writes. */
const BLOCKING: Record<string, string> = {
  ShareLock: 'SHARE',
  ShareRowExclusiveLock: 'SHARE ROW EXCLUSIVE',
  AccessExclusiveLock: 'ACCESS EXCLUSIVE',
};
const STRENGTH = Object.values(BLOCKING);

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;
let client: pg.Client;

beforeAll(async () => {
  createdDatabase = await createDatabase('template1');
  database = new Database('au1', createdDatabase.url);
  client = new pg.Client({ connectionString: createdDatabase.url });
  await client.connect();
  await client.query('create table mikro_orm_migrations (id serial primary key, name text)');
});

afterAll(async () => {
  await client.end();
  await database.close();
  await createdDatabase.drop();
});

/** Returns the strongest blocking lock that the open transaction holds on each table of the list. */
async function readLocks(tables: readonly string[]): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; mode: string }>(
    `select c.relname as name, l.mode from pg_locks l join pg_class c on c.oid = l.relation
     where l.pid = pg_backend_pid() and c.relkind = 'r' and c.relname = any ($1)`,
    [tables],
  );
  const held: Record<string, string> = {};
  for (const { name, mode } of rows) {
    const found = BLOCKING[mode];
    if (found && STRENGTH.indexOf(found) > STRENGTH.indexOf(held[name] ?? '')) held[name] = found;
  }
  return held;
}

const existingTables = async () =>
  (
    await client.query<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    )
  ).rows.map(({ name }) => name);

describe('the locks of a migration', () => {
  // In order, because each needs the tables of those before it.
  it.each(migrations.map(({ name }) => name))('%s are those that PostgreSQL takes', async (name) => {
    const tables = await existingTables();
    const { statements, transactional } = await listStatements(database, name);
    const declared = Object.fromEntries(
      [...collectTableLocks(statements).values()]
        .filter(({ table, mode }) => tables.includes(table) && STRENGTH.includes(mode))
        .map(({ table, mode }) => [table, mode]),
    );
    if (!transactional) {
      for (const statement of statements) await client.query(statement);
      expect(Object.values(declared)).not.toContain('SHARE');
      return;
    }
    await client.query('begin');
    for (const statement of statements) await client.query(statement);
    expect(declared).toEqual(await readLocks(tables));
    await client.query('commit');
  });

  it.each([
    ['alter table "photo" add "remarks" text null;', 'photo', 'ACCESS EXCLUSIVE', 'catalogue'],
    ['alter table "photo" alter column "remarks" set not null;', 'photo', 'ACCESS EXCLUSIVE', 'scan'],
    ['alter table "photo" alter column "remarks" type varchar(10);', 'photo', 'ACCESS EXCLUSIVE', 'rewrite'],
    ['create index "by_name" on "photo" ("file_name");', 'photo', 'SHARE', 'scan'],
    ['create index concurrently "by_name" on "photo" ("file_name");', 'photo', 'SHARE UPDATE EXCLUSIVE', 'scan'],
    ['update "photo" set "description" = null', 'photo', 'ROW EXCLUSIVE', 'rewrite'],
    ['drop table if exists "photo" cascade;', 'photo', 'ACCESS EXCLUSIVE', 'catalogue'],
  ])('%s', (sql, table, mode, work) => {
    expect(findTableLocks(sql)).toEqual([{ table, mode, work }]);
  });

  it('of a foreign key are on both tables', () => {
    const sql =
      'alter table "photo" add constraint "photo_builder_id_foreign" foreign key ("builder_id") references "builder" ("id");';
    expect(findTableLocks(sql)).toEqual([
      { table: 'photo', mode: 'SHARE ROW EXCLUSIVE', work: 'scan' },
      { table: 'builder', mode: 'SHARE ROW EXCLUSIVE', work: 'catalogue' },
    ]);
  });

  it('are reported with the size of the tables that exist', async () => {
    const last = migrations.at(-1)!.name;
    const [found] = await findMigrationLocks(database, [last]);
    expect(found).toMatchObject({ migration: last, transactional: expect.any(Boolean) });
    for (const lock of found!.locks) {
      expect(lock).toMatchObject({ blocks: expect.stringContaining('blocks'), rows: 0, seconds: 0 });
    }
  });
});
