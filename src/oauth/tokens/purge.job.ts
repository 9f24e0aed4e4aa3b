import type { QueryResult } from '@mikro-orm/core';
import type { Database, Databases } from '../../database/database.ts';
import { tryTransactionLock } from '../../database/write/advisory-lock.ts';
import type { Job } from '../../shared/jobs.ts';
import { REFRESH_TOKEN_SECONDS } from './refresh-tokens.ts';

const INTERVAL_MS = 10 * 60_000;

/** One instance purges a region at a time; others skip their run. */
const LOCK = 'builder-integration-api oauth purge';

/** Statements by table. `:now` is the current instant, `:retained` the one a refresh token lifetime earlier. */
const DELETIONS = {
  // Codes and refresh tokens are deleted with their family; until then reuse of them is detected. A family whose code was
  // never used has no tokens and is deleted at expiry.
  families: `delete from oauth_token_family family where family.expires_at < :retained
    or (family.expires_at < :now and family.revoked_at is null
      and exists (select from oauth_authorization_code code where code.family_id = family.id and code.used_at is null))`,
  // Of families that are still in use.
  refreshTokens: 'delete from oauth_refresh_token where expires_at < :retained',
  revokedTokens: 'delete from oauth_revoked_token where expires_at < :now',
  sessions: 'delete from oauth_session where expires_at < :now',
  attempts: 'delete from oauth_sign_in_attempt where expires_at < :now',
};

/** Number of deleted rows by table. */
export type PurgeCounts = Record<keyof typeof DELETIONS, number>;

/** Deletes the expired OAuth rows of one region; returns null while another instance purges it. */
export async function purgeExpired(database: Database, now: number): Promise<PurgeCounts | null> {
  const instants = {
    now: new Date(now).toISOString(),
    retained: new Date(now - REFRESH_TOKEN_SECONDS * 1000).toISOString(),
  };
  return database.transaction(async (em) => {
    if (!(await tryTransactionLock(em, LOCK))) return null;
    const counts: [string, number][] = [];
    for (const [table, sql] of Object.entries(DELETIONS)) {
      const names = [...sql.matchAll(/:(now|retained)/g)].map(([, name]) => name as keyof typeof instants);
      const values = names.map((name) => instants[name]);
      const { affectedRows } = await em.execute<QueryResult>(sql.replace(/:(now|retained)/g, '?'), values, 'run');
      counts.push([table, affectedRows]);
    }
    return Object.fromEntries(counts) as PurgeCounts;
  });
}

/**
 * Creates the job that purges every region every ten minutes.
 *
 * @param now milliseconds since the epoch; by default the database's clock, because an instance whose own clock is wrong
 *   must not delete valid sessions
 */
export const createPurgeJob = (databases: Databases, now = (database: Database) => database.now()): Job => ({
  name: 'purge',
  everyMs: INTERVAL_MS,
  run: async (region) => purgeExpired(databases[region], await now(databases[region])),
});
