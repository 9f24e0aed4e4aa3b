import { createFairShares, KIB } from '../../../src/limits/fair-shares.ts';
import type { ConcurrencyLimits } from './concurrency-limits.ts';

/** Creates limits from the measured service's own semaphores. */
export function createTunedLimits(): ConcurrencyLimits {
  const { requests, memory, writes } = createFairShares();
  return {
    tryAcquireRequest: (shareKey) => requests.tryAcquire(shareKey),
    acquireRequest: (shareKey) => requests.acquire(shareKey),
    tryAcquireResponse: (shareKey, bytes) => memory.tryAcquire(shareKey, Math.ceil(bytes / KIB)),
    acquireResponse: (shareKey, bytes) => memory.acquire(shareKey, Math.ceil(bytes / KIB)),
    runWrite: (shareKey, write) => writes.run(shareKey, 1, write),
    runSync: (_shareKey, sync) => sync(),
  };
}
