import type { Database, Databases } from '../database/database.ts';
import type { Statement } from '../database/pool/pg-pipeline.ts';
import type { Clock } from '../shared/clock.ts';
import { REGIONS } from '../shared/regions.ts';

/** How long the origins that were read are taken for true: a removed one lives on for so long. */
const FRESH_MS = 30_000;

const ORIGINS: Statement = {
  name: 'oauth.origins',
  text: `select distinct unnest(origins) from oauth_client where type = 'PUBLIC' and disabled_at is null`,
};

interface Known {
  origins: ReadonlySet<string>;
  readAt: number;
  /** Whether the last reading failed. */
  away: boolean;
  reading: Promise<void> | null;
}

/** Browser origins that the public clients of all regions have registered. ACC-18. */
export class RegisteredOrigins {
  readonly #databases: Databases;
  readonly #clock: Clock;
  readonly #known = new Map<Database, Known>();

  constructor(options: { databases: Databases; clock: Clock }) {
    this.#databases = options.databases;
    this.#clock = options.clock;
  }

  async has(origin: string): Promise<boolean> {
    const sets = await Promise.all(REGIONS.map((region) => this.#of(this.#databases[region])));
    return sets.some((origins) => origins.has(origin));
  }

  /** While the database is away, what was last read: a browser must be able to read that the answer is 503. */
  async #of(database: Database): Promise<ReadonlySet<string>> {
    let known = this.#known.get(database);
    if (!known) {
      known = { origins: new Set(), readAt: Number.NEGATIVE_INFINITY, away: false, reading: null };
      this.#known.set(database, known);
    }
    const age = this.#clock.now() - known.readAt;
    if (age >= FRESH_MS || age < 0) {
      known.reading ??= this.#read(database, known);
      // Nobody waits a second time for a database that hangs, least of all those who call the other region.
      if (!known.away) await known.reading;
    }
    return known.origins;
  }

  async #read(database: Database, known: Known): Promise<void> {
    try {
      const readAt = this.#clock.now();
      const rows = await database.runner.run(ORIGINS, []);
      known.origins = new Set(rows.map(([origin]) => origin!));
      known.readAt = readAt;
      known.away = false;
    } catch {
      // Asked again at the next request.
      known.away = true;
    } finally {
      known.reading = null;
    }
  }
}
