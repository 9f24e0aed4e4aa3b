import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { printText } from '../../shared/terminal-text.ts';
import { connectWithSettings, DIRECT_SETTINGS } from '../pool/session-settings.ts';
import { CONNECT_TIMEOUT_MS } from '../pool/timeouts.ts';

const RETRY_MS = 100;
/** Milliseconds of waiting for a lock after which the wait is reported, first and then repeatedly. */
const REPORT_AFTER_MS = 5_000;
const REPORT_EVERY_MS = 60_000;

/** Receives one line for the operator. */
export type ReportLine = (line: string) => void;

/** Writes the line to standard error, for programs without a log. */
const reportToStderr: ReportLine = (line) => printText(process.stderr, line);

/**
 * Runs work under an exclusive lock of the database. The lock belongs to a transaction that stays open meanwhile, so that it ends with
 * its connection, even after a crash and behind a pooler. When the lock is lost, the promise rejects and the work's signal aborts.
 *
 * @param name of the lock, which reports and `application_name` show
 */
export async function withAdvisoryLock<T>(
  url: string,
  name: string,
  work: (signal: AbortSignal) => Promise<T>,
  report: ReportLine = reportToStderr,
): Promise<T> {
  const client = await connectAndBegin(url, name);
  try {
    await waitForAdvisoryLock(client, name, report, beginAgain);
    return await runWhileConnected(client, name, work);
  } finally {
    await endTransaction(client);
  }
}

/** Does the same as `withAdvisoryLock`, but returns null at once when another session holds the lock. */
export async function tryWithAdvisoryLock<T>(
  url: string,
  name: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const client = await connectAndBegin(url, name);
  try {
    return (await tryLock(client, name)) ? await runWhileConnected(client, name, work) : null;
  } finally {
    await endTransaction(client);
  }
}

/**
 * Takes a lock for the client's open transaction. It polls, because a blocking wait would hold a snapshot.
 *
 * @param beforeRetry is called after each attempt that fails. Without it the transaction stays open until it has the lock.
 */
export async function waitForAdvisoryLock(
  client: pg.ClientBase,
  name: string,
  report: ReportLine = reportToStderr,
  beforeRetry?: (client: pg.ClientBase) => Promise<void>,
): Promise<void> {
  const began = performance.now();
  let reportAt = began + REPORT_AFTER_MS;
  while (!(await tryLock(client, name))) {
    if (performance.now() >= reportAt) {
      reportAt += REPORT_EVERY_MS;
      const seconds = Math.floor((performance.now() - began) / 1000);
      report(`Waiting for the lock "${name}" for ${seconds} seconds: ${await describeHolder(client, name)}.`);
    }
    await beforeRetry?.(client);
    await sleep(RETRY_MS);
  }
}

/**
 * Uses the simple query protocol: the portal of a statement with parameters would stay open in the transaction and hold a snapshot,
 * and `create index concurrently` waits until such snapshots end.
 */
async function tryLock(client: pg.ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query(tryLockSql(name));
  return rows[0].taken;
}

async function connectAndBegin(url: string, name: string): Promise<pg.Client> {
  const client = await connectWithSettings(url, DIRECT_SETTINGS, {
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // PostgreSQL truncates it to 63 bytes.
    application_name: `${name} (${process.pid} on ${hostname()})`,
  });
  await begin(client);
  return client;
}

async function begin(client: pg.ClientBase): Promise<void> {
  await client.query('begin');
  // The transaction is idle while the work runs on other connections.
  await client.query(`select set_config(name, '0', true)
    from unnest('{statement_timeout,idle_in_transaction_session_timeout,transaction_timeout}'::text[]) name`);
}

/**
 * Continues the wait for a lock in a new transaction. `create index concurrently` waits for the end of every transaction that had a snapshot
 * at a certain moment, and an attempt has one. If the holder of the lock builds the index, it would otherwise wait for its own waiter.
 */
async function beginAgain(client: pg.ClientBase): Promise<void> {
  await client.query('rollback');
  await begin(client);
}

/** Ends the transaction before the connection, because a pooler may keep the session. */
async function endTransaction(client: pg.Client): Promise<void> {
  await client.query('rollback').catch(() => undefined);
  await client.end().catch(() => undefined);
}

async function runWhileConnected<T>(
  client: pg.Client,
  name: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const failure = new Promise<never>((_, reject) => {
    lost.signal.addEventListener('abort', () => reject(lost.signal.reason));
  });
  const onEnd = () => lost.abort(new Error(`Connection terminated: the lock "${name}" is lost.`));
  client.once('end', onEnd);
  try {
    return await Promise.race([work(lost.signal), failure]);
  } finally {
    client.off('end', onEnd);
  }
}

const toKeySql = (name: string) => `hashtext(${pg.escapeLiteral(name)})`;

const tryLockSql = (name: string) => `select pg_try_advisory_xact_lock(${toKeySql(name)}) as taken`;

/** Takes a lock for the open transaction. Returns false when another session holds it. */
export async function tryTransactionLock(em: EntityManager, name: string): Promise<boolean> {
  const [row] = await em.execute<{ taken: boolean }[]>(tryLockSql(name));
  return row!.taken;
}

/**
 * Takes a lock for the open transaction, and blocks until it is free. Its keys have 64 bits, for locks per record. The lock timeout of the
 * session ends the wait after 4 seconds (LIM-25), before a wait is reported.
 */
export async function acquireRecordLock(em: EntityManager, name: string): Promise<void> {
  await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name]);
}

/** Returns `process 123 ("application name") of PostgreSQL has held it since ...`. `pg_locks` shows a key as two halves. */
async function describeHolder(client: pg.ClientBase, name: string): Promise<string> {
  const { rows } = await client.query(`
    select a.pid, a.application_name as name, coalesce(a.xact_start, a.backend_start) as since
    from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and l.database = (select oid from pg_database where datname = current_database())
      and (l.classid::bigint << 32 | l.objid::bigint) = ${toKeySql(name)}::bigint`);
  if (rows.length === 0) return 'it has just been released';
  const [holder] = rows;
  return `process ${holder.pid} ("${holder.name}") of PostgreSQL has held it since ${holder.since.toISOString()}`;
}
