import type { RegionId } from '../../shared/regions.ts';
import { EVERY_EVENT, type EventFilter } from './event-filter.ts';
import { type LogDatabase, type LogPosition, numberNextEvents, readLogPage } from './event-log.ts';

/** Milliseconds between two reads of the log. */
const INTERVAL_MS = 100;

/** Maximum events of one read. The next read continues after them. */
const MAX_EVENTS = 500;

/** Why a wait ended: a matching event was found, the time is over, or the process stops. */
type WaitResult = { reason: 'events' | 'timeout' | 'stopping'; position: LogPosition };

interface Waiter {
  filter: EventFilter;
  /** No event up to this position matches. */
  position: LogPosition;
  end: (reason: WaitResult['reason']) => void;
}

/**
 * The end of each region's log, for requests that wait for events. While at least one waits, the process numbers and reads new events every
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

  /** Ends all waits. Later ones end at once. */
  close(): void {
    this.#isClosed = true;
    for (const waiters of Object.values(this.#waiters)) for (const { end } of [...waiters]) end('stopping');
  }

  #schedule(region: RegionId): void {
    this.#polling.add(region);
    setTimeout(async () => {
      if (this.#isStopping()) this.close();
      // After a failure the next read returns the same events.
      await this.#poll(region).catch(() => undefined);
      this.#polling.delete(region);
      if (this.#waiters[region].size > 0) this.#schedule(region);
    }, INTERVAL_MS).unref();
  }

  async #poll(region: RegionId): Promise<void> {
    const waiters = [...this.#waiters[region]];
    if (waiters.length === 0) return;
    const first = waiters.reduce(
      (least, { position }) => (position.number < least.number ? position : least),
      waiters[0]!.position,
    );
    await numberNextEvents(this.#databases[region], null);
    const { events, next } = await readLogPage(this.#databases[region], first, EVERY_EVENT, MAX_EVENTS);
    for (const waiter of waiters) {
      const { number } = waiter.position;
      if (events.some((event) => event.number > number && waiter.filter.includes(event))) waiter.end('events');
      else if (next.number > number) waiter.position = next;
    }
  }
}
