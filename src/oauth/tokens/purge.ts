import type { QueryResult } from '@mikro-orm/core';
import type { Database, Databases } from '../../database/database.ts';
import { tryTransactionLock } from '../../database/write/advisory-lock.ts';
import type { Job } from '../../shared/jobs.ts';
import { REFRESH_TOKEN_SECONDS } from './refresh-tokens.ts';

const EVERY_MS = 10 * 60_000;

/** One instance purges at a time; others skip their run. */
const LOCK = 'builder-integration-api oauth purge';

/** What is over, table by table. `:now` is the clock's instant, `:long` one as long before as a refresh token lives. */
const OVER = {
  // Codes and refresh tokens go with their family. Until then a second use of them is noticed. A code that was never used
  // leaves nothing to look after.
  families: `delete from oauth_token_family family where family.expires_at < :long
    or (family.expires_at < :now and family.revoked_at is null
      and exists (select from oauth_authorization_code code where code.family_id = family.id and code.used_at is null))`,
  // Of a family that goes on.
  refreshTokens: 'delete from oauth_refresh_token where expires_at < :long',
  revokedTokens: 'delete from oauth_revoked_token where expires_at < :now',
  sessions: 'delete from oauth_session where expires_at < :now',
  attempts: 'delete from oauth_sign_in_attempt where expires_at < :now',
};

export type Purged = Record<keyof typeof OVER, number>;

/** Deletes what has expired in one region; null while another instance does so. */
export async function purge(database: Database, now: number): Promise<Purged | null> {
  const instants = {
    now: new Date(now).toISOString(),
    long: new Date(now - REFRESH_TOKEN_SECONDS * 1000).toISOString(),
  };
  return database.transaction(async (em) => {
    if (!(await tryTransactionLock(em, LOCK))) return null;
    const purged: [string, number][] = [];
    for (const [name, sql] of Object.entries(OVER)) {
      const names = [...sql.matchAll(/:(now|long)/g)].map(([, instant]) => instant as keyof typeof instants);
      const values = names.map((instant) => instants[instant]);
      const { affectedRows } = await em.execute<QueryResult>(sql.replace(/:(now|long)/g, '?'), values, 'run');
      purged.push([name, affectedRows]);
    }
    return Object.fromEntries(purged) as Purged;
  });
}

/**
 * Purges every ten minutes. What is over is so by the database's clock: an instance whose own has jumped must sign nobody out.
 *
 * @param now milliseconds since the epoch
 */
export const purging = (databases: Databases, now = (database: Database) => database.now()): Job => ({
  name: 'purge',
  everyMs: EVERY_MS,
  run: async (region) => purge(databases[region], await now(databases[region])),
});
