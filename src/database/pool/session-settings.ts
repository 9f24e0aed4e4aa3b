import pg from 'pg';
import { CONNECT_MS, IDLE_TRANSACTION_MS, LOCK_MS, STATEMENT_MS } from './timeouts.ts';

/** PostgreSQL settings of a session: lower-case name, and the value in the notation of `pg_settings.setting`. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * Settings of every connection. Instants are read as text, which is UTC only in a UTC session. Where PostgreSQL can compile a
 * plan to machine code, it would do so for every call of one whose cost it estimates high, and take longer than the call.
 */
export const COMMON_SETTINGS: SessionSettings = { timezone: 'UTC', jit: 'off' };

/** Settings of the connections that serve requests. */
export const REQUEST_SETTINGS: SessionSettings = {
  ...COMMON_SETTINGS,
  statement_timeout: String(STATEMENT_MS),
  lock_timeout: String(LOCK_MS),
  idle_in_transaction_session_timeout: String(IDLE_TRANSACTION_MS),
};

/**
 * A prepared plan, and that of a foreign key's check, lives as long as its connection. One made while a table was known to be
 * empty would read the whole of it on every later call; what a short write looks for, an index finds.
 */
export const WRITER_SETTINGS: SessionSettings = { ...REQUEST_SETTINGS, enable_seqscan: 'off' };

/**
 * The same for prepared reads, which find row by row what they read. A plan for the values of one call would be made anew for
 * each, which takes longer than most reads.
 */
export const READER_SETTINGS: SessionSettings = {
  ...WRITER_SETTINGS,
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/** The settings as the `options` of a connection. A pooler may drop these, so `applySettings` checks them. */
export const toOptions = (settings: SessionSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** Configuration of a `pg.Pool` whose connections have the settings before their first use. */
export const poolSettings = (settings: SessionSettings) => ({
  options: toOptions(settings),
  // The pool waits for the promise, which its type definitions do not say.
  onConnect: (client: pg.ClientBase) => applySettings(client, settings) as unknown as undefined,
});

/** A left join, so that a name that PostgreSQL does not know fails in `set_config`. */
const DIFFERING = `from json_each_text($1) wanted left join pg_settings s on lower(s.name) = wanted.key
  where s.setting is distinct from wanted.value`;

/** Sets those settings of the session that differ. One round trip; to be called once per connection. */
export async function applySettings(client: pg.ClientBase, settings: SessionSettings): Promise<void> {
  await query(client, `select set_config(wanted.key, wanted.value, false) ${DIFFERING}`, settings);
}

/** Opens a connection of its own with the settings. The caller ends it. */
export async function connectWithSettings(
  url: string,
  settings: SessionSettings,
  config: pg.ClientConfig = {},
): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: toOptions(settings), ...config });
  // The statement under way, or the next one, reports a lost connection too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await applySettings(client, settings);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/**
 * Names of the settings that differ and cannot be set, because a pooler gives each transaction another session. Setting them would
 * hold for some transactions and not for others, and for those of other programs.
 */
export async function findUnsettable(url: string, settings: SessionSettings): Promise<string[]> {
  const client = await connect(url, settings);
  try {
    const rows = await query(client, `select wanted.key ${DIFFERING}`, settings);
    if (rows.length === 0) return [];
    return (await isSharedSession(url, client)) ? rows.map(({ key }) => key!) : [];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** How many other connections try to get the session of the first. */
const RIVALS = 3;

/** Whether the server session of a connection serves other connections between its transactions. */
async function isSharedSession(url: string, client: pg.Client): Promise<boolean> {
  const rivals: pg.Client[] = [];
  try {
    // Before the first look: whoever comes next gets the session that was given back last, or, in turn, another one.
    while (rivals.length < RIVALS) rivals.push(await connect(url, {}));
    const pid = await sessionOf(client);
    for (const rival of rivals) {
      // The open transaction keeps the session that the pooler gives it.
      await rival.query('begin');
      if ((await sessionOf(rival)) === pid) return true;
    }
    return (await sessionOf(client)) !== pid;
  } finally {
    await Promise.all(rivals.map((rival) => rival.end().catch(() => undefined)));
  }
}

async function connect(url: string, settings: SessionSettings): Promise<pg.Client> {
  const config = { connectionString: url, connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS };
  const client = new pg.Client({ ...config, options: toOptions(settings) });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

const sessionOf = async (client: pg.Client): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;

async function query(client: pg.ClientBase, text: string, settings: SessionSettings) {
  // A server that takes connections and answers nothing must not hold up whoever waits for this one.
  const limited = { text, values: [JSON.stringify(settings)], query_timeout: CONNECT_MS };
  return (await client.query<{ key?: string }>(limited)).rows;
}
