import { unavailable } from '../errors.ts';

interface FairSemaphoreOptions {
  /** Pieces of work that run at a time. */
  concurrency: number;
  /** Pieces of work that wait, of all keys; one more is refused. */
  maxWaiting: number;
}

/**
 * Bounds how much expensive work runs at a time, and serves the keys that wait in rotation: whoever has much waiting delays
 * another key by one piece of work only.
 */
export class FairSemaphore {
  readonly #maxWaiting: number;
  #free: number;
  #waiting = 0;
  /** Waiting work by key; the key that is served next is the first. */
  readonly #queues = new Map<string, (() => void)[]>();

  constructor({ concurrency, maxWaiting }: FairSemaphoreOptions) {
    this.#free = concurrency;
    this.#maxWaiting = maxWaiting;
  }

  /** Runs the work once there is room for it; throws 503 when too much waits already. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#wait(key);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #wait(key: string): Promise<void> {
    if (this.#waiting >= this.#maxWaiting) throw unavailable(new Error('Too much work waits.'));
    this.#waiting++;
    return new Promise((begin) => {
      const queue = this.#queues.get(key);
      if (queue) queue.push(begin);
      else this.#queues.set(key, [begin]);
    });
  }

  #release(): void {
    const [next] = this.#queues;
    if (!next) {
      this.#free++;
      return;
    }
    const [key, queue] = next;
    const begin = queue.shift()!;
    this.#waiting--;
    this.#queues.delete(key);
    if (queue.length > 0) this.#queues.set(key, queue);
    begin();
  }
}
