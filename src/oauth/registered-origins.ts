import type { Database, Databases } from '../database/database.ts';
import type { Statement } from '../database/pool/pg-pipeline.ts';
import type { Clock } from '../shared/clock.ts';
import { REGIONS } from '../shared/regions.ts';

/** Cache lifetime in milliseconds: a removed origin is accepted for at most this long. */
const MAX_AGE_MS = 30_000;

const ORIGINS: Statement = {
  name: 'oauth.origins',
  text: `select distinct unnest(origins) from oauth_client where type = 'PUBLIC' and disabled_at is null`,
};

/** Cached origins of one region. */
interface CachedOrigins {
  origins: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readAt: number;
  hasReadFailed: boolean;
  /** The read in progress, which all requests share. */
  pendingRead: Promise<void> | null;
}

/** Browser origins that the public clients of all regions have registered for CORS, cached for 30 seconds. ACC-18. */
export class RegisteredOrigins {
  readonly #databases: Databases;
  readonly #clock: Clock;
  readonly #cache = new Map<Database, CachedOrigins>();

  constructor(options: { databases: Databases; clock: Clock }) {
    this.#databases = options.databases;
    this.#clock = options.clock;
  }

  async has(origin: string): Promise<boolean> {
    const sets = await Promise.all(REGIONS.map((region) => this.#originsIn(this.#databases[region])));
    return sets.some((origins) => origins.has(origin));
  }

  /** Serves the last origins read while the database is unavailable, so that browsers can read the 503 response. */
  async #originsIn(database: Database): Promise<ReadonlySet<string>> {
    let cached = this.#cache.get(database);
    if (!cached) {
      cached = { origins: new Set(), readAt: Number.NEGATIVE_INFINITY, hasReadFailed: false, pendingRead: null };
      this.#cache.set(database, cached);
    }
    const age = this.#clock.now() - cached.readAt;
    if (age >= MAX_AGE_MS || age < 0) {
      cached.pendingRead ??= this.#read(database, cached);
      // After a failed read the next one runs in the background, so that an unresponsive database does not delay
      // requests, least of all those for the other region.
      if (!cached.hasReadFailed) await cached.pendingRead;
    }
    return cached.origins;
  }

  async #read(database: Database, cached: CachedOrigins): Promise<void> {
    try {
      const readAt = this.#clock.now();
      const rows = await database.runner.run(ORIGINS, []);
      cached.origins = new Set(rows.map(([origin]) => origin!));
      cached.readAt = readAt;
      cached.hasReadFailed = false;
    } catch {
      // `readAt` is unchanged, so that the next request reads again.
      cached.hasReadFailed = true;
    } finally {
      cached.pendingRead = null;
    }
  }
}
