import pg from 'pg';
import { DatabaseClient } from './database-client.ts';
import { CONNECT_TIMEOUT_MS, IDLE_TRANSACTION_TIMEOUT_MS, LOCK_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './timeouts.ts';

/** PostgreSQL session settings by lower-case name; the values have the notation of `pg_settings.setting`. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * Settings of every connection. Timestamps are read as text, which is UTC only in a UTC session. With `jit`, PostgreSQL compiles a
 * plan of high estimated cost at each execution, which takes longer than the execution.
 */
const COMMON_SETTINGS: SessionSettings = { timezone: 'UTC', jit: 'off' };

/**
 * Settings of the connections for migrations, jobs and commands. They undo those of requests, which an operator sets on the database user
 * behind a pooler: a migration of a large table takes longer than a request may.
 */
export const DIRECT_SETTINGS: SessionSettings = {
  ...COMMON_SETTINGS,
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  enable_seqscan: 'on',
  enable_bitmapscan: 'on',
  enable_hashjoin: 'on',
  enable_mergejoin: 'on',
  plan_cache_mode: 'auto',
};

/** Settings of the connections that serve requests. */
export const REQUEST_SETTINGS: SessionSettings = {
  ...COMMON_SETTINGS,
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
  lock_timeout: String(LOCK_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(IDLE_TRANSACTION_TIMEOUT_MS),
};

/**
 * Settings of the connections for short writes. Prepared plans, including those of foreign key checks, live as long as their
 * connection: one made while a table was empty would scan the whole table for ever. All lookups of short writes have an index.
 */
export const WRITER_SETTINGS: SessionSettings = { ...REQUEST_SETTINGS, enable_seqscan: 'off' };

/**
 * Settings of the connections for prepared reads. Their joins look up single rows, so nested loops are best. An index returns the rows of a
 * list in order, where a bitmap of several would read all of them. A custom plan would be made anew for each execution, which takes
 * longer than most reads.
 */
export const READER_SETTINGS: SessionSettings = {
  ...WRITER_SETTINGS,
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/** Returns the settings as the `options` of a connection. A pooler may drop these, so `applySettings` sets them too. */
export const toOptions = (settings: SessionSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** Returns the configuration of a `pg.Pool` whose connections have the settings before their first use. */
export const toPoolConfig = (settings: SessionSettings) => ({
  // pg's pool passes its configuration to the constructor, which its type definitions omit.
  Client: DatabaseClient as unknown as new () => pg.Client,
  options: toOptions(settings),
  // The pool awaits the promise, which its type definitions omit.
  onConnect: (client: pg.ClientBase) => applySettings(client, settings) as unknown as undefined,
});

/** Sets the session settings, in one round trip. Call it once per connection. */
export async function applySettings(client: pg.ClientBase, settings: SessionSettings): Promise<void> {
  await querySettings(client, 'select set_config(key, value, false) from json_each_text($1)', settings);
}

/** Opens a connection with the settings. The caller ends it. */
export async function connectWithSettings(
  url: string,
  settings: SessionSettings,
  config: pg.ClientConfig = {},
): Promise<pg.Client> {
  const client = new DatabaseClient({ connectionString: url, options: toOptions(settings), ...config });
  try {
    await client.connect();
    await applySettings(client, settings);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/** SQL that identifies a database by its cluster and name, whatever its address is. A standby has the identity of its primary. */
export const IDENTITY = `(select system_identifier from pg_control_system()) || '/' || current_database()`;

interface ServerFacts {
  major: number;
  version: string;
  /** With the time since which the server runs, because a server may be a copy of another. */
  identity: string;
  /**
   * Names of settings that differ and cannot be set, because a pooler in transaction mode shares sessions. A setting would apply to some of
   * the service's transactions only, and to transactions of other programs.
   */
  unsettable: string[];
}

/** Returns what the service has to know of a server, on a connection without its settings. */
export async function inspectServer(url: string, settings: SessionSettings): Promise<ServerFacts> {
  const client = await connect(url, settings);
  try {
    // The old value, then the wanted one as PostgreSQL writes it: `pg_settings`, with the units of both, takes 3 ms.
    const text = `select current_setting('server_version_num')::int / 10000 as major, current_setting('server_version') as version,
      ${IDENTITY} || '/' || extract(epoch from pg_postmaster_start_time()) as identity,
      array(select key from json_each_text($1) where current_setting(key) <> set_config(key, value, true)) as unsettable`;
    const [facts] = await querySettings<ServerFacts>(client, text, settings);
    const { unsettable } = facts!;
    return { ...facts!, unsettable: unsettable.length > 0 && (await isSharedSession(url, client)) ? unsettable : [] };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Connections that compete for the server session of the tested one. */
const PROBE_CONNECTIONS = 3;

/** Whether a pooler lends the connection's server session to other connections between transactions. */
async function isSharedSession(url: string, client: pg.Client): Promise<boolean> {
  const probes: pg.Client[] = [];
  try {
    // All connect first, because a pooler assigns the session that was returned last or, in rotation, another one.
    while (probes.length < PROBE_CONNECTIONS) probes.push(await connect(url, {}));
    const pid = await findBackendPid(client);
    for (const probe of probes) {
      // An open transaction keeps its session, so that the next probe gets another one.
      await probe.query('begin');
      if ((await findBackendPid(probe)) === pid) return true;
    }
    return (await findBackendPid(client)) !== pid;
  } finally {
    await Promise.all(probes.map((probe) => probe.end().catch(() => undefined)));
  }
}

async function connect(url: string, settings: SessionSettings): Promise<pg.Client> {
  const config = {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  };
  const client = new DatabaseClient({ ...config, options: toOptions(settings) });
  await client.connect();
  return client;
}

const findBackendPid = async (client: pg.Client): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;

async function querySettings<Row extends object>(client: pg.ClientBase, text: string, settings: SessionSettings) {
  // Limited, because a hanging server accepts connections and never responds.
  const limited = { text, values: [JSON.stringify(settings)], query_timeout: CONNECT_TIMEOUT_MS };
  return (await client.query<Row>(limited)).rows;
}
