import { setImmediate as afterThisTurn, setTimeout as sleep } from 'node:timers/promises';

/** Work that is waiting or running, at most. Further work is dropped, so that an unresponsive server does not fill the memory. */
const MAX_WORK = 1000;

/** Pieces of work at a time, so that one recipient's slow server delays few others. */
const CONCURRENCY = 4;

/** Delays in milliseconds before the second and third attempt. */
const RETRY_DELAYS_MS = [1_000, 5_000];

/** Time in milliseconds that work has to end in when the process stops. */
const CLOSE_MS = 5_000;

type Work = () => Promise<unknown>;

/**
 * Runs work after the response of the request that caused it, four pieces at a time. Nothing is stored: what waits when the process ends
 * is lost, and the person has to request it again.
 */
export class MailQueue {
  readonly #waiting: { run: Work; afterFailure?: Work }[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  /** @param onError Called with the error of work whose last attempt failed. */
  constructor(
    readonly onError: (error: unknown) => void,
    readonly retryDelaysMs: readonly number[] = RETRY_DELAYS_MS,
  ) {}

  /**
   * Adds work, which is tried again after an error. Returns false if the queue is full or closed.
   *
   * @param afterFailure Called after the last attempt has failed.
   */
  add(run: Work, afterFailure?: Work): boolean {
    if (this.#closing.signal.aborted || this.#waiting.length + this.#running.size >= MAX_WORK) return false;
    this.#waiting.push({ run, afterFailure });
    this.#start();
    return true;
  }

  /** Resolves when all work that was added is done. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /**
   * Accepts no more work, and waits for what was added without further attempts. After the time limit the rest is abandoned. Returns the
   * number of abandoned pieces.
   */
  async close(timeoutMs = CLOSE_MS): Promise<number> {
    this.#closing.abort();
    await Promise.race([this.drain(), sleep(timeoutMs, undefined, { ref: false })]);
    const abandoned = this.#waiting.length + this.#running.size;
    this.#waiting.length = 0;
    return abandoned;
  }

  #start(): void {
    if (this.#running.size >= CONCURRENCY) return;
    const work = this.#waiting.shift();
    if (!work) return;
    const running = this.#run(work).finally(() => {
      this.#running.delete(running);
      this.#start();
    });
    this.#running.add(running);
  }

  async #run({ run, afterFailure }: { run: Work; afterFailure?: Work }): Promise<void> {
    // The response is written in the turn of the event loop that adds the work.
    await afterThisTurn();
    const { signal } = this.#closing;
    for (let count = 0; ; count++) {
      try {
        await run();
        return;
      } catch (error) {
        const delay = this.retryDelaysMs[count];
        if (delay === undefined || signal.aborted) {
          this.onError(error);
          await afterFailure?.().catch(this.onError);
          return;
        }
        await sleep(delay, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}
