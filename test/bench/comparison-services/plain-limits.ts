import type { Release } from '../../../src/limits/fair-semaphore.ts';
import type { ConcurrencyLimits } from './concurrency-limits.ts';
import { HttpError } from './http-error.ts';

const MIB = 1_048_576;

/** Size of the connection pool. A share may use all but two for writes. */
export const WRITE_CONNECTIONS = 12;

interface Share {
  used: number;
  waiting: { cost: number; start: () => void }[];
}

/** Limits concurrent work by share. Waiting work is queued first in, first out, in a queue of bounded length. */
class ShareLimit {
  readonly #shares = new Map<string, Share>();
  readonly #perShare: number;
  readonly #maxQueued: number;

  constructor(perShare: number, maxQueued: number) {
    this.#perShare = perShare;
    this.#maxQueued = maxQueued;
  }

  /** Returns null where the share must wait. */
  tryAcquire(key: string, cost: number): Release | null {
    const share = this.#share(key);
    const units = Math.min(cost, this.#perShare);
    if (share.waiting.length > 0 || share.used + units > this.#perShare) return null;
    share.used += units;
    return this.#release(share, units);
  }

  async acquire(key: string, cost: number): Promise<Release> {
    const share = this.#share(key);
    const units = Math.min(cost, this.#perShare);
    if (share.waiting.length >= this.#maxQueued) {
      const body = { code: 'RATE_LIMITED', message: 'Too many concurrent requests.' };
      throw new HttpError(429, body, { 'Retry-After': '1' });
    }
    await new Promise<void>((start) => share.waiting.push({ cost: units, start }));
    return this.#release(share, units);
  }

  async run<T>(key: string, execute: () => Promise<T>): Promise<T> {
    const release = this.tryAcquire(key, 1) ?? (await this.acquire(key, 1));
    try {
      return await execute();
    } finally {
      release();
    }
  }

  #share(key: string): Share {
    let share = this.#shares.get(key);
    if (!share) {
      share = { used: 0, waiting: [] };
      this.#shares.set(key, share);
    }
    return share;
  }

  #release(share: Share, units: number): Release {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      share.used -= units;
      for (let [next] = share.waiting; next && share.used + next.cost <= this.#perShare; [next] = share.waiting) {
        share.waiting.shift();
        share.used += next.cost;
        next.start();
      }
    };
  }
}

/** Creates limits with the numbers of the measured service by share, without fairness between shares. */
export function createPlainLimits(): ConcurrencyLimits {
  const requests = new ShareLimit(32, 256);
  const responses = new ShareLimit(8 * MIB, 256);
  const writes = new ShareLimit(WRITE_CONNECTIONS - 2, 256);
  const syncs = new ShareLimit(8, 128);
  return {
    tryAcquireRequest: (shareKey) => requests.tryAcquire(shareKey, 1),
    acquireRequest: (shareKey) => requests.acquire(shareKey, 1),
    tryAcquireResponse: (shareKey, bytes) => responses.tryAcquire(shareKey, bytes),
    acquireResponse: (shareKey, bytes) => responses.acquire(shareKey, bytes),
    runWrite: (shareKey, write) => writes.run(shareKey, write),
    runSync: (shareKey, sync) => syncs.run(shareKey, sync),
  };
}
