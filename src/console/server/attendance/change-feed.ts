import type { Database } from '../../../database/database.ts';
import type { Clock } from '../../../shared/clock.ts';
import { type Changes, readChanges, requireCursor, toDistinctSites } from './changes.ts';

/** Milliseconds for which polls share what the last read found. A poll a second later still finds a change within two seconds. */
export const SHARED_MS = 500;

/** Milliseconds for which entries are kept. A poll with an older cursor reads from the database. */
const REMEMBERED_MS = 10_000;

/** Changes that one read found since the read before it. */
interface FeedEntry extends Changes {
  /** Milliseconds since the epoch. */
  at: number;
}

/**
 * The changes of one region, which the polls of all tabs share: a process reads them at most twice a second, however many tabs poll. Tabs
 * that poll between two reads receive the same cursor.
 */
export class ChangeFeed {
  /** In the order of reading. */
  #entries: FeedEntry[] = [];
  #reading: Promise<FeedEntry> | null = null;
  /** Milliseconds of the monotonic clock at which the read of the last entry began. */
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(
    readonly database: Database,
    readonly clock: Clock,
  ) {}

  /**
   * Returns what changed since a cursor, to within half a second. Throws 400 for a text that is no cursor.
   *
   * @param database with the limits of the request, for a cursor of another process or of long ago.
   */
  async findChanges(database: Database, after: string | null): Promise<Changes> {
    if (after !== null && !this.#findLater(after)) await requireCursor(database, after);
    const { cursor } = await this.#refresh();
    if (after === null) return { cursor, changed: [], reset: true };
    // The next poll finds changes after the last entry again.
    const later = this.#findLater(after) ?? [await readChanges(database, after, this.clock.now())];
    const changed = toDistinctSites(later.flatMap((each) => each.changed));
    return { cursor, changed, reset: later.some(({ reset }) => reset) };
  }

  /** Returns the entries after the one with the cursor; null where it is not remembered. */
  #findLater(cursor: string): FeedEntry[] | null {
    const index = this.#entries.findLastIndex((each) => each.cursor === cursor);
    return index < 0 ? null : this.#entries.slice(index + 1);
  }

  async #refresh(): Promise<FeedEntry> {
    const latest = this.#entries.at(-1);
    if (latest && performance.now() - this.#readAt < SHARED_MS) return latest;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #read(): Promise<FeedEntry> {
    const readAt = performance.now();
    const at = this.clock.now();
    this.#entries = this.#entries.filter((each) => Math.abs(at - each.at) < REMEMBERED_MS);
    const changes = await readChanges(this.database, this.#entries.at(-1)?.cursor ?? null, at);
    const entry = { ...changes, at };
    this.#entries.push(entry);
    this.#readAt = readAt;
    return entry;
  }
}
