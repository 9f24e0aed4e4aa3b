import pg from 'pg';
import { splitAddresses } from '../../shared/postgres-url.ts';

/** Milliseconds that a server may take to respond. */
const PROBE_MS = 2_000;

/** Milliseconds to wait for the other servers once one accepts writes. */
const GRACE_MS = 250;

/** Milliseconds for which a result is used again, so that the connections of a pool share it. A failure is used for a shorter time. */
const REUSE_MS = 1_000;
const REUSE_FAILURE_MS = 50;

/** The timeline of a server that accepts writes, in hexadecimal digits; null of another one. */
const TIMELINE = `select case when not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off'
  then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

/** A server that accepts writes. */
export interface Primary {
  url: string;
  timeline: string;
}

interface Search {
  result: Promise<Primary>;
  /** Time from which a new search is made; infinite while this one runs. */
  until: number;
}

const searches = new Map<string, Search>();

/** Makes the next connection search again, because one to the primary failed. */
export const forgetPrimary = (url: string): void => void searches.delete(url);

/**
 * Returns the server that accepts writes. Where several do, because an old primary was started again after a promotion, it is the one of
 * the highest timeline. Throws an error of a lost connection where none does.
 *
 * @param url with the addresses of all servers
 */
export function findPrimary(url: string): Promise<Primary> {
  const known = searches.get(url);
  if (known && performance.now() < known.until) return known.result;
  const search: Search = { result: searchPrimary(url), until: Number.POSITIVE_INFINITY };
  searches.set(url, search);
  const reuse = (milliseconds: number) => () => {
    search.until = performance.now() + milliseconds;
  };
  search.result.then(reuse(REUSE_MS), reuse(REUSE_FAILURE_MS));
  return search.result;
}

async function searchPrimary(url: string): Promise<Primary> {
  const found: Primary[] = [];
  const failures: string[] = [];
  const { promise: isFirstFound, resolve: reportFirst } = Promise.withResolvers<void>();
  const probes = splitAddresses(url).map(async (address) => {
    const { host } = new URL(address);
    try {
      const timeline = await readTimeline(address);
      if (timeline === null) failures.push(`${host} accepts no writes`);
      else found.push({ url: address, timeline });
      if (found.length > 0) reportFirst();
    } catch (error) {
      const { message, code } = error as Error & { code?: string };
      failures.push(`${host}: ${message || code}`);
    }
  });
  const all = Promise.all(probes);
  await Promise.race([all, isFirstFound]);
  await Promise.race([all, delay(GRACE_MS)]);
  const primary = found.toSorted((one, other) => (one.timeline < other.timeline ? 1 : -1))[0];
  if (!primary) throw new Error(`Connection terminated: no server accepts writes (${failures.join('; ')}).`);
  return primary;
}

const delay = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref());

async function readTimeline(connectionString: string): Promise<string | null> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<{ timeline: string | null }>(TIMELINE)).rows[0]!.timeline;
  } finally {
    client.end().catch(() => undefined);
  }
}
