import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Database } from './database.ts';
import { createOrm, SESSION_OPTIONS } from './orm.ts';
import { CONNECT_MS } from './timeouts.ts';

/** Two starters never migrate at once; the second waits and finds nothing left to do. */
const LOCK = `hashtext('builder-integration-api migrations')`;

const AGAIN_MS = 100;

/** How long a migration holds up those that would wait behind it. */
const GIVE_WAY_MS = 1000;
const LOCK_NOT_AVAILABLE = '55P03';
const ATTEMPTS = 60;
const PAUSE_MS = 1000;

export class PendingMigrations extends Error {
  override name = 'PendingMigrations';
}

/** `auto` applies what is pending; `check` throws `PendingMigrations` instead. Answers the names that were applied. */
export async function bringUpToDate(database: Database, mode: 'auto' | 'check'): Promise<string[]> {
  // Even the look needs the lock: it makes the table of what was applied.
  return withMigrationLock(database, async () => {
    const pending = (await database.orm.migrator.getPending()).map(({ name }) => name);
    if (pending.length === 0) return [];
    if (mode === 'check') {
      throw new PendingMigrations(
        `Region ${database.region} waits for migrations (${pending.join(', ')}): run "npm run cli -- migrate up".`,
      );
    }
    await withMigrator(database, (migrator) => givingWay(() => migrator.up()));
    return pending;
  });
}

/** Tries again when a lock was not to be had in time. */
async function givingWay<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** Takes back the newest migration. */
export async function takeBack(database: Database): Promise<string[]> {
  return withMigrationLock(database, () =>
    withMigrator(database, async (migrator) => (await givingWay(() => migrator.down())).map(({ name }) => name)),
  );
}

/** A statement of a migration takes as long as it takes, but it waits for no lock for long: others would wait behind it. */
async function withMigrator<T>(
  { url }: Database,
  work: (migrator: Database['orm']['migrator']) => Promise<T>,
): Promise<T> {
  const driverOptions = { options: SESSION_OPTIONS, lock_timeout: GIVE_WAY_MS, connectionTimeoutMillis: CONNECT_MS };
  const orm = createOrm(url, { driverOptions });
  try {
    return await work(orm.migrator);
  } finally {
    await orm.close();
  }
}

async function withMigrationLock<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: database.url, connectionTimeoutMillis: CONNECT_MS });
  // Its loss is told by the statement that is under way, or by the next.
  client.on('error', () => undefined);
  await client.connect();
  try {
    // Waiting in the database would hold a snapshot, for whose end an index that is built `concurrently` would wait.
    while (!(await client.query(`select pg_try_advisory_lock(${LOCK}) as taken`)).rows[0].taken) await sleep(AGAIN_MS);
    return await work();
  } finally {
    await client.end();
  }
}
