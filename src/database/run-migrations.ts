import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../shared/operator-error.ts';
import type { Database } from './database.ts';
import { migrations } from './migrations/index.ts';
import { createOrm, releaseLostConnections } from './orm.ts';
import { DIRECT_SETTINGS, toPoolConfig } from './pool/session-settings.ts';
import { CONNECT_TIMEOUT_MS } from './pool/timeouts.ts';
import { type ReportLine, withAdvisoryLock } from './write/advisory-lock.ts';

/** Serializes processes that migrate: the second one waits and finds nothing left to do. */
const LOCK = 'builder-integration-api migrations';

/** Milliseconds that a migration waits for a table lock, during which other statements queue behind it. */
const LOCK_TIMEOUT_MS = 1000;
const LOCK_NOT_AVAILABLE = '55P03';
const ATTEMPTS = 60;
const PAUSE_MS = 1000;

/** The database has another schema than this release: migrations are pending that must not be applied, or it has those of an old release. */
export class SchemaMismatchError extends OperatorError {
  override name = 'SchemaMismatch';
}

/**
 * Applies pending migrations and returns their names. When none is pending, it neither writes nor takes a lock.
 *
 * @param mode `check` throws `SchemaMismatchError` instead of applying them.
 * @throws SchemaMismatchError when the database is of a release before 0.2.0, whose migrations were replaced by one
 */
export async function runPendingMigrations(
  database: Database,
  mode: 'auto' | 'check',
  report?: ReportLine,
): Promise<string[]> {
  const names = await findPending(database);
  if (names.length === 0) return [];
  if (mode === 'check') {
    throw new SchemaMismatchError(
      `Region ${database.region} waits for migrations (${names.join(', ')}): run "builder-api migrate up" (in a checkout: "npm run cli -- migrate up").`,
    );
  }
  const apply = async () => {
    const pending = await findPending(database);
    if (pending.length > 0) await applyPending(database);
    return pending;
  };
  return withAdvisoryLock(database.url, LOCK, apply, report);
}

// A start need not create MikroORM for these, which takes long. Without names, so that they pass poolers that change sessions.
const FIND_TABLE = { name: '', text: `select to_regclass('mikro_orm_migrations')::text` };
const SELECT_APPLIED = { name: '', text: 'select name from mikro_orm_migrations order by id' };

/** Returns the names of the applied migrations, oldest first. Works on a read-only database too. */
export async function findAppliedMigrations({ runner }: Database): Promise<string[]> {
  const [found] = await runner.run(FIND_TABLE, []);
  if (found![0] === null) return [];
  return (await runner.run(SELECT_APPLIED, [])).map(([name]) => name!);
}

async function findPending(database: Database): Promise<string[]> {
  const applied = await findAppliedMigrations(database);
  if (applied.some((name) => name < migrations[0]!.name)) {
    throw new SchemaMismatchError(
      `The database of region ${database.region} is of a release before 0.2.0: export it with that release ("builder-api export DIR"), then import DIR into an empty database or DATA_DIR with this one.`,
    );
  }
  return migrations.map(({ name }) => name).filter((name) => !applied.includes(name));
}

/** Runs work, and again after a lock timeout, up to `attempts` times in all. */
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

/** Statements of migrations have no time limit, but a short lock timeout, because other statements queue behind a waiting one. */
async function applyPending({ url }: Database): Promise<void> {
  const driverOptions = {
    ...toPoolConfig({ ...DIRECT_SETTINGS, lock_timeout: String(LOCK_TIMEOUT_MS) }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    onPoolCreated: releaseLostConnections,
  };
  // Migrations are SQL: they need no entities, whose discovery takes long.
  const orm = createOrm(url, { driverOptions, entities: [], discovery: { warnWhenNoEntities: false } });
  try {
    await retryOnLockTimeout(() => orm.migrator.up());
  } finally {
    await orm.close();
  }
}
