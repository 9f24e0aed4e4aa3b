import pg from 'pg';
import type { Database } from './database.ts';

/** Two starters never migrate at once; the second waits and finds nothing left to do. */
const LOCK = `hashtext('builder-integration-api migrations')`;

export class PendingMigrations extends Error {
  override name = 'PendingMigrations';
}

/** `auto` applies what is pending; `check` throws `PendingMigrations` instead. Answers the names that were applied. */
export async function bringUpToDate(database: Database, mode: 'auto' | 'check'): Promise<string[]> {
  const pending = await database.orm.migrator.getPending();
  if (pending.length === 0) return [];
  if (mode === 'check') {
    const names = pending.map(({ name }) => name).join(', ');
    throw new PendingMigrations(
      `Region ${database.region} waits for migrations (${names}): run "npm run cli -- migrate up".`,
    );
  }
  return withMigrationLock(database, async () => (await database.orm.migrator.up()).map(({ name }) => name));
}

/** Takes back the newest migration. */
export async function takeBack(database: Database): Promise<string[]> {
  return withMigrationLock(database, async () => (await database.orm.migrator.down()).map(({ name }) => name));
}

async function withMigrationLock<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(`select pg_advisory_lock(${LOCK})`);
    return await work();
  } finally {
    await client.end();
  }
}
