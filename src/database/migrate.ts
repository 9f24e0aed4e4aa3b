import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.ts';
import { createOrm, giveUpLostConnections } from './orm.ts';
import { COMMON_SETTINGS, poolSettings } from './session-settings.ts';
import { CONNECT_MS } from './timeouts.ts';
import { inTurn } from './turns.ts';

/** Two starters never migrate at once; the second waits and finds nothing left to do. */
const TURN = 'builder-integration-api migrations';

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
  return inTurn(database.url, TURN, async () => {
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
  return inTurn(database.url, TURN, () =>
    withMigrator(database, async (migrator) => (await givingWay(() => migrator.down())).map(({ name }) => name)),
  );
}

/** A statement of a migration takes as long as it takes, but it waits for no lock for long: others would wait behind it. */
async function withMigrator<T>(
  { url }: Database,
  work: (migrator: Database['orm']['migrator']) => Promise<T>,
): Promise<T> {
  const driverOptions = {
    ...poolSettings({ ...COMMON_SETTINGS, lock_timeout: String(GIVE_WAY_MS) }),
    connectionTimeoutMillis: CONNECT_MS,
    onPoolCreated: giveUpLostConnections,
  };
  const orm = createOrm(url, { driverOptions });
  try {
    return await work(orm.migrator);
  } finally {
    await orm.close();
  }
}
