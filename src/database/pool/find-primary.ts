import pg from 'pg';
import { splitAddresses } from '../../shared/postgres-url.ts';

/** Milliseconds that a server may take to respond. */
const PROBE_MS = 2_000;

/** Milliseconds to wait for the other servers once one accepts writes. */
const GRACE_MS = 250;

/** Milliseconds for which a result is used again, so that the connections of a pool share it. A failure is used for a shorter time. */
const REUSE_MS = 1_000;
const REUSE_FAILURE_MS = 50;

/** Milliseconds between two searches for a server of a higher timeline while connections are open. */
const RECHECK_MS = 2_000;

/** The timeline of a server that accepts writes, in hexadecimal digits; null of another one. */
const TIMELINE = `select case when not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off'
  then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline, pg_postmaster_start_time()::text as started`;

/** A server that accepts writes. */
export interface PrimaryServer {
  url: string;
  timeline: string;
  /** Start time of the server. Two addresses with the same one lead to the same server, such as two poolers. */
  started: string;
}

interface Search {
  result: Promise<PrimaryServer>;
  /** Time from which a new search is made; infinite while this one runs. */
  until: number;
}

const searches = new Map<string, Search>();

/** Makes the next connection search again, because one to the primary failed. */
export const invalidatePrimary = (url: string): void => void searches.delete(url);

/**
 * Returns the server that accepts writes. Where several do, because an old primary was started again after a promotion, it is that of the
 * highest timeline. Throws an error of a lost connection where none does, and where two have the same timeline.
 *
 * @param url with the addresses of all servers
 */
export function findPrimary(url: string): Promise<PrimaryServer> {
  const recentSearch = searches.get(url);
  if (recentSearch && performance.now() < recentSearch.until) return recentSearch.result;
  const search: Search = { result: searchPrimary(url, GRACE_MS), until: Number.POSITIVE_INFINITY };
  searches.set(url, search);
  const reuse = (milliseconds: number) => () => {
    search.until = performance.now() + milliseconds;
  };
  search.result.then(reuse(REUSE_MS), reuse(REUSE_FAILURE_MS));
  return search.result;
}

interface OpenConnection {
  timeline: string;
  drop: () => void;
}

/** Open connections by URL. */
const openConnections = new Map<string, Set<OpenConnection>>();

/**
 * Calls `drop` when a server of a higher timeline than the connection's accepts writes, which is searched for until the returned function
 * is called: an old primary that still runs would answer reads with old data.
 */
export function watchPrimary(url: string, connection: OpenConnection): () => void {
  let connections = openConnections.get(url);
  if (!connections) {
    connections = new Set();
    openConnections.set(url, connections);
    scheduleRecheck(url, connections);
  }
  connections.add(connection);
  return () => void connections.delete(connection);
}

function scheduleRecheck(url: string, connections: Set<OpenConnection>): void {
  const recheck = async () => {
    if (connections.size === 0) return void openConnections.delete(url);
    // Waits for every server, because a new primary may be slower than the old one.
    await searchPrimary(url, PROBE_MS).catch(() => undefined);
    scheduleRecheck(url, connections);
  };
  setTimeout(recheck, RECHECK_MS).unref();
}

/** Returns the server of the highest timeline; undefined without any. Throws where that is two servers, whose data differ. */
export function choosePrimary(servers: readonly PrimaryServer[]): PrimaryServer | undefined {
  const primary = servers.toSorted((one, other) => other.timeline.localeCompare(one.timeline))[0];
  const other = servers.find(({ timeline, started }) => timeline === primary?.timeline && started !== primary.started);
  if (!other) return primary;
  const hosts = [primary!, other].map((server) => new URL(server.url).host);
  throw new Error(`Connection terminated: two servers accept writes on one timeline (${hosts.sort().join(', ')}).`);
}

async function searchPrimary(url: string, graceMs: number): Promise<PrimaryServer> {
  const found: PrimaryServer[] = [];
  const failures: string[] = [];
  const { promise: isFirstFound, resolve: reportFirst } = Promise.withResolvers<void>();
  const probes = splitAddresses(url).map(async (address) => {
    const { host } = new URL(address);
    try {
      const { timeline, started } = await readTimeline(address);
      if (timeline === null) failures.push(`${host} accepts no writes`);
      else {
        found.push({ url: address, timeline, started });
        // At once: a server that hangs delays the end of the search.
        for (const open of openConnections.get(url) ?? []) if (open.timeline < timeline) open.drop();
      }
      if (found.length > 0) reportFirst();
    } catch (error) {
      const { message, code } = error as Error & { code?: string };
      failures.push(`${host}: ${message || code}`);
    }
  });
  const all = Promise.all(probes);
  await Promise.race([all, isFirstFound]);
  await Promise.race([all, delay(graceMs)]);
  const primary = choosePrimary(found);
  if (!primary) throw new Error(`Connection terminated: no server accepts writes (${failures.join('; ')}).`);
  return primary;
}

const delay = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref());

async function readTimeline(connectionString: string): Promise<{ timeline: string | null; started: string }> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<{ timeline: string | null; started: string }>(TIMELINE)).rows[0]!;
  } finally {
    client.end().catch(() => undefined);
  }
}
