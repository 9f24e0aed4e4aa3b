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

/** Browser origins that the public clients of all regions have registered for CORS, cached for 30 seconds. ACC-18. */
export class RegisteredOrigins {
  readonly #regions: readonly RegionalOrigins[];

  constructor({ databases, clock }: { databases: Databases; clock: Clock }) {
    this.#regions = REGIONS.map((region) => new RegionalOrigins(databases[region], clock));
  }

  async has(origin: string): Promise<boolean> {
    const sets = await Promise.all(this.#regions.map((region) => region.list()));
    return sets.some((origins) => origins.has(origin));
  }
}

class RegionalOrigins {
  #origins: ReadonlySet<string> = new Set();
  /** Milliseconds since the epoch. */
  #readAt = Number.NEGATIVE_INFINITY;
  #hasReadFailed = false;
  /** The read in progress, which all requests share. */
  #pendingRead: Promise<void> | null = null;

  constructor(
    readonly database: Database,
    readonly clock: Clock,
  ) {}

  /** Serves the last origins read while the database is unavailable, so that browsers can read the 503 response. */
  async list(): Promise<ReadonlySet<string>> {
    const age = this.clock.now() - this.#readAt;
    if (age >= MAX_AGE_MS || age < 0) {
      this.#pendingRead ??= this.#read().finally(() => {
        this.#pendingRead = null;
      });
      // After a failed read the next one runs in the background, so that an unresponsive database does not delay
      // requests, least of all those for the other region.
      if (!this.#hasReadFailed) await this.#pendingRead;
    }
    return this.#origins;
  }

  /** After a failure `readAt` is unchanged, so that the next request reads again. */
  async #read(): Promise<void> {
    const readAt = this.clock.now();
    const rows = await this.database.runner.run(ORIGINS, []).catch(() => null);
    this.#hasReadFailed = rows === null;
    if (rows === null) return;
    this.#origins = new Set(rows.map(([origin]) => origin!));
    this.#readAt = readAt;
  }
}
