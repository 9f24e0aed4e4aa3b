import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { COMMON_SETTINGS, connectWithSettings } from '../pool/session-settings.ts';
import { CONNECT_TIMEOUT_MS } from '../pool/timeouts.ts';

const RETRY_MS = 100;
/** Milliseconds of waiting for a lock after which it is reported, and then again after each minute. */
const REPORT_AFTER_MS = 5_000;
const REPORT_EVERY_MS = 60_000;

/** Receives one line for the operator. */
export type ReportLine = (line: string) => void;

/** Writes the line to the console, for programs that have no log. */
export const reportToStderr: ReportLine = (line) => void process.stderr.write(`${line}\n`);

/**
 * Runs work under a lock that one process at a time holds. The lock belongs to a transaction that stays open meanwhile, so it ends
 * with its connection, even after a crash and behind a pooler. The work fails, and its signal aborts, when the lock is lost.
 *
 * @param name of the lock, which reports and `application_name` show
 */
export async function withAdvisoryLock<T>(
  url: string,
  name: string,
  work: (signal: AbortSignal) => Promise<T>,
  report: ReportLine = reportToStderr,
): Promise<T> {
  const client = await beginTransaction(url, name);
  try {
    await waitForAdvisoryLock(client, name, report);
    return await runWhileConnected(client, name, work);
  } finally {
    await endTransaction(client);
  }
}

/** The same, but returns null at once when another process holds the lock. */
export async function tryWithAdvisoryLock<T>(
  url: string,
  name: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const client = await beginTransaction(url, name);
  try {
    return (await tryLock(client, name)) ? await runWhileConnected(client, name, work) : null;
  } finally {
    await endTransaction(client);
  }
}

/** Takes a lock for the transaction that is open on the client. It tries again and again, because waiting holds a snapshot. */
export async function waitForAdvisoryLock(
  client: pg.ClientBase,
  name: string,
  report: ReportLine = reportToStderr,
): Promise<void> {
  const began = performance.now();
  let reportAt = began + REPORT_AFTER_MS;
  while (!(await tryLock(client, name))) {
    if (performance.now() >= reportAt) {
      reportAt += REPORT_EVERY_MS;
      const seconds = Math.floor((performance.now() - began) / 1000);
      report(`Waiting for the lock "${name}" for ${seconds} seconds: ${await describeHolder(client, name)}.`);
    }
    await sleep(RETRY_MS);
  }
}

/**
 * By the simple protocol: the portal of a statement with parameters would stay open in the transaction, and with it a snapshot, for
 * whose end an index that is built `concurrently` waits.
 */
async function tryLock(client: pg.ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query(`select pg_try_advisory_xact_lock(${toKeySql(name)}) as taken`);
  return rows[0].taken;
}

async function beginTransaction(url: string, name: string): Promise<pg.Client> {
  const client = await connectWithSettings(url, COMMON_SETTINGS, {
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    // PostgreSQL cuts it to 63 bytes.
    application_name: `${name} (${process.pid} on ${hostname()})`,
  });
  await client.query('begin');
  // The transaction is idle while the work runs on other connections.
  await client.query(`select set_config(name, '0', true) from pg_settings
    where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`);
  return client;
}

/** The transaction ends first: a pooler may keep its session. */
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

/** `process 123 ("application name") of PostgreSQL has held it since ...`. A lock of one key is kept as its upper and lower half. */
async function describeHolder(client: pg.ClientBase, name: string): Promise<string> {
  const { rows } = await client.query(`
    select a.pid, a.application_name as name, coalesce(a.xact_start, a.backend_start) as since
    from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and l.database = (select oid from pg_database where datname = current_database())
      and (l.classid::bigint << 32 | l.objid::bigint) = ${toKeySql(name)}::bigint`);
  if (rows.length === 0) return 'its holder has just ended';
  const [holder] = rows;
  return `process ${holder.pid} ("${holder.name}") of PostgreSQL has held it since ${holder.since.toISOString()}`;
}
