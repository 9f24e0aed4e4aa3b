import { setImmediate as afterThisTurn, setTimeout as sleep } from 'node:timers/promises';

/** Work that is waiting, at most. Further work is dropped, so that an unresponsive server does not fill the memory. */
const MAX_WAITING = 1000;

/** Delays in milliseconds before the second and third attempt. */
const RETRY_DELAYS_MS = [1_000, 5_000];

/**
 * Runs work after the response of the request that caused it, one piece at a time. Nothing is stored: what waits when the process ends
 * is lost, and the person asks again.
 */
export class MailQueue {
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  /** @param onError Called with the error of work whose last attempt failed. */
  constructor(
    readonly onError: (error: unknown) => void,
    readonly retryDelaysMs: readonly number[] = RETRY_DELAYS_MS,
  ) {}

  /** Adds work, which is tried again after an error. Returns false if the queue is full. */
  add(work: () => Promise<unknown>): boolean {
    if (this.#closed || this.#waiting >= MAX_WAITING) return false;
    this.#waiting++;
    this.#last = this.#last.then(async () => {
      // The response is written in the turn of the event loop that adds the work.
      await afterThisTurn();
      await this.#attempt(work);
      this.#waiting--;
    });
    return true;
  }

  /** Resolves when all work that was added is done. */
  drain(): Promise<void> {
    return this.#last;
  }

  /** Accepts no more work, and waits for what was added without further attempts. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
  }

  async #attempt(work: () => Promise<unknown>): Promise<void> {
    for (let count = 0; ; count++) {
      try {
        await work();
        return;
      } catch (error) {
        const delay = this.retryDelaysMs[count];
        if (delay === undefined || this.#closed) {
          this.onError(error);
          return;
        }
        await sleep(delay);
      }
    }
  }
}
