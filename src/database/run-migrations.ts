import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.ts';
import { migrations } from './migrations/index.ts';
import { createOrm, releaseLostConnections } from './orm.ts';
import { COMMON_SETTINGS, toPoolConfig } from './pool/session-settings.ts';
import { CONNECT_TIMEOUT_MS } from './pool/timeouts.ts';
import { findAppliedMigrations, planRollback, type RollbackPlan } from './rollback-migration.ts';
import { type ReportLine, withAdvisoryLock } from './write/advisory-lock.ts';

/** Two starters never migrate at once; the second waits and finds nothing left to do. */
const LOCK = 'builder-integration-api migrations';

/** How long a migration holds up those that would wait behind it. */
const LOCK_TIMEOUT_MS = 1000;
const LOCK_NOT_AVAILABLE = '55P03';
const ATTEMPTS = 60;
const PAUSE_MS = 1000;

export class PendingMigrationsError extends Error {
  override name = 'PendingMigrations';
}

/**
 * `auto` applies what is pending; `check` throws `PendingMigrations` instead. Returns the names that were applied. Looking writes
 * nothing and waits for nobody.
 */
export async function runPendingMigrations(
  database: Database,
  mode: 'auto' | 'check',
  report?: ReportLine,
): Promise<string[]> {
  const found = await findPending(database);
  if (found.length === 0) return [];
  if (mode === 'check') {
    throw new PendingMigrationsError(
      `Region ${database.region} waits for migrations (${found.join(', ')}): run "npm run cli -- migrate up".`,
    );
  }
  const apply = async () => {
    const pending = await findPending(database);
    if (pending.length > 0) await withMigrator(database, (migrator) => retryOnLockTimeout(() => migrator.up()));
    return pending;
  };
  return withAdvisoryLock(database.url, LOCK, apply, report);
}

async function findPending(database: Database): Promise<string[]> {
  const applied = await findAppliedMigrations(database);
  return migrations.map(({ name }) => name).filter((name) => !applied.includes(name));
}

/** Runs work again, so many times in all, when it fails because it waited too long for a lock. */
export async function retryOnLockTimeout<T>(
  work: () => Promise<T>,
  attempts: number = ATTEMPTS,
  pauseMs: number = PAUSE_MS,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || attempt === attempts) throw error;
      await sleep(pauseMs);
    }
  }
}

/** A rollback that would destroy data, or would not be the one that was planned. Nothing was changed. */
export class RollbackRefusedError extends Error {
  override name = 'RollbackRefused';
}

export interface RollbackOptions {
  /** Also when rows or values are lost. */
  destroyData: boolean;
  /** Name of the only migration that may be rolled back; any when absent. */
  expected?: string;
  report?: ReportLine;
}

/** Rolls back the newest migration. Returns its name; nothing when none is applied. Throws `RollbackRefused`. */
export async function rollbackLast(
  database: Database,
  { destroyData, expected, report }: RollbackOptions,
): Promise<string[]> {
  const rollBack = async () => {
    const plan = await planRollback(database);
    if (!plan) return [];
    if (expected !== undefined && plan.migration !== expected) {
      throw new RollbackRefusedError(
        `Region ${database.region} is at ${plan.migration} by now: nothing was rolled back.`,
      );
    }
    if (!destroyData && plan.losses.length > 0) {
      throw new RollbackRefusedError(
        `Rolling back ${plan.migration} in ${database.region} destroys ${describeLosses(plan)}: add --destroy-data to do it.`,
      );
    }
    return withMigrator(database, async (migrator) =>
      (await retryOnLockTimeout(() => migrator.down())).map(({ name }) => name),
    );
  };
  return withAdvisoryLock(database.url, LOCK, rollBack, report);
}

/** `12 rows of photo, 3 values of meeting.agenda`. */
export const describeLosses = ({ losses }: RollbackPlan): string =>
  losses
    .map(({ table, column, rows }) =>
      column === null ? `${rows} rows of ${table}` : `${rows} values of ${table}.${column}`,
    )
    .join(', ');

/** A statement of a migration takes as long as it takes, but it waits for no lock for long: others would wait behind it. */
async function withMigrator<T>(
  { url }: Database,
  work: (migrator: Database['orm']['migrator']) => Promise<T>,
): Promise<T> {
  const driverOptions = {
    ...toPoolConfig({ ...COMMON_SETTINGS, lock_timeout: String(LOCK_TIMEOUT_MS) }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    onPoolCreated: releaseLostConnections,
  };
  const orm = createOrm(url, { driverOptions });
  try {
    return await work(orm.migrator);
  } finally {
    await orm.close();
  }
}
