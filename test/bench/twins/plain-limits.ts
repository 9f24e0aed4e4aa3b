import type { Release } from '../../../src/shared/fair-semaphore.ts';
import type { Limits } from './limits.ts';
import { HttpError } from './service.ts';

const MIB = 1_048_576;

interface Share {
  used: number;
  waiting: { cost: number; start: () => void }[];
}

/** So much at a time by share, in order of arrival, and a bounded queue. */
class ShareLimit {
  readonly #shares = new Map<string, Share>();
  readonly #perShare: number;
  readonly #maxQueued: number;

  constructor(perShare: number, maxQueued: number) {
    this.#perShare = perShare;
    this.#maxQueued = maxQueued;
  }

  async acquire(key: string, cost: number): Promise<Release> {
    let share = this.#shares.get(key);
    if (!share) {
      share = { used: 0, waiting: [] };
      this.#shares.set(key, share);
    }
    const units = Math.min(cost, this.#perShare);
    if (share.waiting.length > 0 || share.used + units > this.#perShare) await this.#wait(share, units);
    else share.used += units;
    return () => {
      share.used -= units;
      const [next] = share.waiting;
      if (next && share.used + next.cost <= this.#perShare) {
        share.waiting.shift();
        share.used += next.cost;
        next.start();
      }
    };
  }

  #wait(share: Share, cost: number): Promise<void> {
    if (share.waiting.length >= this.#maxQueued) {
      throw new HttpError(
        429,
        { code: 'RATE_LIMITED', message: 'Too many concurrent requests.' },
        { 'Retry-After': '1' },
      );
    }
    return new Promise((start) => share.waiting.push({ cost, start }));
  }
}

/** The limits as an engineer would write them by hand: the service's numbers by share, without fairness between shares. */
export function createPlainLimits(): Limits {
  const requests = new ShareLimit(64, 256);
  const responses = new ShareLimit(64 * MIB, 64);
  return {
    startRequest: (share) => requests.acquire(share, 1),
    startResponse: (share, bytes) => responses.acquire(share, bytes),
  };
}
