import { EVERY_EVENT, type EventFilter } from '../../events/event-filter.ts';
import { type LogDatabase, type LoggedEvent, type LogPosition, readHead, readLogPage } from '../../events/event-log.ts';
import type { Audiences } from './audiences.ts';

/** Events that are kept in memory. An endpoint that is further behind reads the log itself. */
const KEPT_EVENTS = 10_000;

const PAGE_SIZE = 1_000;

/** Pages that are read before the events are delivered. */
const MAX_PAGES = 5;

/** Matching events after a position, and the position up to which the log was searched. */
interface LogSlice {
  events: LoggedEvent[];
  next: LogPosition;
}

/** The newest events of a region's log, read once for all endpoints. */
export class LogTail {
  readonly #database: LogDatabase;
  readonly #audiences: Audiences;
  /** In the order of the log; contains every event after `#start`. */
  #events: LoggedEvent[] = [];
  #start: LogPosition | null = null;
  #end: LogPosition | null = null;
  #epoch: string | null = null;

  constructor(database: LogDatabase, audiences: Audiences) {
    this.#database = database;
    this.#audiences = audiences;
  }

  /** Position of the last event that was read; null before the first read. Audiences that are loaded later allow what was allowed then. */
  get end(): LogPosition | null {
    return this.#end;
  }

  /** Epoch of the log that the events were read from; null before the first. */
  get epoch(): string | null {
    return this.#epoch;
  }

  /**
   * Forgets the events if the log was restored meanwhile, so that their numbers mean others. Returns whether it was. After the promotion
   * of a standby that lacks events, the log is shorter before its epoch is renewed.
   */
  async resetAfterRestore(): Promise<boolean> {
    const end = this.#end;
    if (!end) return false;
    const { epoch, number } = await readHead(this.#database);
    if (epoch === this.#epoch && number >= end.number) return false;
    this.#events = [];
    this.#start = this.#end = this.#epoch = null;
    return true;
  }

  /** Reads the events that were added. */
  async poll(): Promise<void> {
    if (!this.#end) {
      const { day, number, epoch } = await readHead(this.#database);
      this.#audiences.clear();
      this.#epoch = epoch;
      this.#start = this.#end = { day, number };
    }
    for (let pages = 0, hasMore = true; hasMore && pages < MAX_PAGES; pages++) {
      const end: LogPosition = this.#end;
      const page = await readLogPage(this.#database, end, EVERY_EVENT, PAGE_SIZE);
      await this.#audiences.dropOutdated(new Set(page.events.map(({ builderId }) => builderId)));
      // It was reset meanwhile.
      if (this.#end !== end) return;
      this.#events.push(...page.events);
      this.#end = page.next;
      hasMore = page.hasMore;
    }
    if (this.#events.length > 2 * KEPT_EVENTS) {
      const dropped = this.#events.splice(0, this.#events.length - KEPT_EVENTS);
      const { day, number } = dropped.at(-1)!;
      this.#start = { day, number };
    }
  }

  /** Returns up to `limit` matching events after the position and up to the end, from memory where possible. */
  async read(after: LogPosition, end: LogPosition, filter: EventFilter, limit: number): Promise<LogSlice> {
    if (this.#start && after.number >= this.#start.number) return this.#readKept(after, end, filter, limit);
    const page = await readLogPage(this.#database, after, filter.toParameters(), limit);
    if (page.next.number <= end.number) return page;
    return { events: page.events.filter(({ number }) => number <= end.number), next: end };
  }

  #readKept(after: LogPosition, end: LogPosition, filter: EventFilter, limit: number): LogSlice {
    const events: LoggedEvent[] = [];
    for (let index = this.#firstAfter(after.number); index < this.#events.length; index++) {
      const event = this.#events[index]!;
      if (event.number > end.number) break;
      if (!filter.includes(event)) continue;
      events.push(event);
      if (events.length === limit) return { events, next: { day: event.day, number: event.number } };
    }
    return { events, next: end };
  }

  /** Returns the index of the first event after the number, by binary search. */
  #firstAfter(number: number): number {
    let [low, high] = [0, this.#events.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#events[middle]!.number <= number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
