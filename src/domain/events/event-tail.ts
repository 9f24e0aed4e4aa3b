import type { RegionId } from '../../shared/regions.ts';
import type { EventFilter } from './event-filter.ts';
import { type FilterParameters, type LogDatabase, type LogPosition, readLogPage } from './event-log.ts';
import { eventTypes } from './event-types.ts';

/** Pause after which waiters' events are looked for again. */
const INTERVAL_MS = 100;

/** Most events that one look finds. The next look goes on after them. */
const LIMIT = 500;

/** Filter that matches every published event. */
export const EVERY_EVENT: FilterParameters = { types: JSON.stringify({ 0: [...eventTypes.keys()] }), groups: null };

/** Why a wait ended: a matching event was found, the time is over, or the process is about to stop. */
type WaitResult = { reason: 'events' | 'timeout' | 'stopping'; position: LogPosition };

interface Waiter {
  filter: EventFilter;
  /** No event up to here matches. */
  position: LogPosition;
  end: (reason: WaitResult['reason']) => void;
}

/**
 * The end of each region's log, for requests that wait for events. While at least one waits, the process reads the new events once every
 * 100 ms for all of them, so that a waiting request holds no connection. LISTEN is not used, because NOTIFY serialises commits.
 */
export class EventTail {
  readonly #databases: Record<RegionId, LogDatabase>;
  readonly #isStopping: () => boolean;
  readonly #waiters: Record<RegionId, Set<Waiter>> = { au1: new Set(), us1: new Set() };
  readonly #polling = new Set<RegionId>();
  #isClosed = false;

  constructor(databases: Record<RegionId, LogDatabase>, isStopping: () => boolean) {
    this.#databases = databases;
    this.#isStopping = isStopping;
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.#waiters.au1.size + this.#waiters.us1.size;
  }

  /** Waits until the log has a matching event after the position, at most that long. @param signal ends the wait as a timeout. */
  wait(
    region: RegionId,
    position: LogPosition,
    filter: EventFilter,
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<WaitResult> {
    return new Promise((resolve) => {
      const { timeoutMs, signal } = options;
      const end = (reason: WaitResult['reason']) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', endEarly);
        this.#waiters[region].delete(waiter);
        resolve({ reason, position: waiter.position });
      };
      const waiter: Waiter = { filter, position, end };
      const endEarly = () => end('timeout');
      const timer = setTimeout(endEarly, timeoutMs);
      if (this.#isClosed || this.#isStopping()) return end('stopping');
      if (signal.aborted) return endEarly();
      signal.addEventListener('abort', endEarly, { once: true });
      this.#waiters[region].add(waiter);
      if (!this.#polling.has(region)) this.#schedule(region);
    });
  }

  /** Ends all waits, and rejects no further ones: they end at once. */
  close(): void {
    this.#isClosed = true;
    for (const waiters of Object.values(this.#waiters)) for (const { end } of [...waiters]) end('stopping');
  }

  #schedule(region: RegionId): void {
    this.#polling.add(region);
    setTimeout(async () => {
      if (this.#isStopping()) this.close();
      // After a failure the next look reads the same events.
      await this.#look(region).catch(() => undefined);
      this.#polling.delete(region);
      if (this.#waiters[region].size > 0) this.#schedule(region);
    }, INTERVAL_MS).unref();
  }

  async #look(region: RegionId): Promise<void> {
    const waiters = [...this.#waiters[region]];
    if (waiters.length === 0) return;
    const first = waiters.reduce(
      (least, { position }) => (position.number < least.number ? position : least),
      waiters[0]!.position,
    );
    const { events, next } = await readLogPage(this.#databases[region], first, EVERY_EVENT, LIMIT);
    for (const waiter of waiters) {
      const { number } = waiter.position;
      if (events.some((event) => event.number > number && waiter.filter.includes(event))) waiter.end('events');
      else if (next.number > number) waiter.position = next;
    }
  }
}
