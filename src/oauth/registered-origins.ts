import type { Database, Databases } from '../database/database.ts';
import { statement } from '../database/pool/pg-pipeline.ts';
import type { Clock } from '../shared/clock.ts';
import { REGIONS } from '../shared/regions.ts';

/** Cache lifetime in milliseconds: a removed origin is accepted for at most this long. */
const MAX_AGE_MS = 30_000;

const ORIGINS = statement('oauth.origins')`
  select distinct unnest(origins) from oauth_client where type = 'PUBLIC' and disabled_at is null`;

/** Browser origins that the public clients of all regions have registered for CORS, cached for 30 seconds. ACC-18. */
export class RegisteredOrigins {
  readonly #regions: readonly (() => Promise<ReadonlySet<string>>)[];

  constructor({ databases, clock }: { databases: Databases; clock: Clock }) {
    this.#regions = REGIONS.map((region) => createOriginCache(databases[region], clock));
  }

  async has(origin: string): Promise<boolean> {
    const sets = await Promise.all(this.#regions.map((list) => list()));
    return sets.some((origins) => origins.has(origin));
  }
}

/**
 * Returns a function that lists the origins of a region. It serves the last origins read while the database is unavailable, so that
 * browsers can read the 503 response.
 */
function createOriginCache(database: Database, clock: Clock): () => Promise<ReadonlySet<string>> {
  let origins: ReadonlySet<string> = new Set();
  /** Milliseconds since the epoch; unchanged by a failure, so that the next request reads again. */
  let readAt = Number.NEGATIVE_INFINITY;
  let hasReadFailed = false;
  /** The read in progress, which all requests share. */
  let pendingRead: Promise<void> | null = null;
  const read = async () => {
    const now = clock.now();
    const rows = await database.runner.run(ORIGINS, []).catch(() => null);
    hasReadFailed = rows === null;
    if (rows !== null) [origins, readAt] = [new Set(rows.map(([origin]) => origin!)), now];
    pendingRead = null;
  };
  return async () => {
    const age = clock.now() - readAt;
    if (age < MAX_AGE_MS && age >= 0) return origins;
    pendingRead ??= read();
    // After a failed read the next one runs in the background, so that an unresponsive database does not delay
    // requests, least of all those for the other region.
    if (!hasReadFailed) await pendingRead;
    return origins;
  };
}
