import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Database } from './database.ts';

/** Two starters never migrate at once; the second waits and finds nothing left to do. */
const LOCK = `hashtext('builder-integration-api migrations')`;

const AGAIN_MS = 100;

const LOCK_NOT_AVAILABLE = '55P03';
const ATTEMPTS = 60;
const PAUSE_MS = 1000;

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
  return withMigrationLock(database, async () => {
    const before = new Set((await database.orm.migrator.getExecuted()).map(({ name }) => name));
    await givingWay(() => database.orm.migrator.up());
    const applied = (await database.orm.migrator.getExecuted()).map(({ name }) => name);
    return applied.filter((name) => !before.has(name));
  });
}

/** Tries again when a lock was not to be had in time: whoever waits for it longer holds up all that comes after. */
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
  return withMigrationLock(database, async () => (await database.orm.migrator.down()).map(({ name }) => name));
}

async function withMigrationLock<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    // Waiting in the database would hold a snapshot, for whose end an index that is built `concurrently` would wait.
    while (!(await client.query(`select pg_try_advisory_lock(${LOCK}) as taken`)).rows[0].taken) await sleep(AGAIN_MS);
    return await work();
  } finally {
    await client.end();
  }
}
