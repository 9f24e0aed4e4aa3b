import { createFairShares } from '../../../src/shared/fair-shares.ts';
import type { ConcurrencyLimits } from './concurrency-limits.ts';

/** Creates limits from the measured service's own semaphores. */
export function createTunedLimits(): ConcurrencyLimits {
  const { requests, smallResponseBytes, writes, photoReportSyncs } = createFairShares();
  return {
    tryAcquireRequest: (shareKey) => requests.tryAcquire(shareKey),
    acquireRequest: (shareKey) => requests.acquire(shareKey),
    tryAcquireResponse: (shareKey, bytes) => smallResponseBytes.tryAcquire(shareKey, bytes),
    acquireResponse: (shareKey, bytes) => smallResponseBytes.acquire(shareKey, bytes),
    runWrite: (shareKey, write) => writes.run(shareKey, 1, write),
    runSync: (shareKey, sync) => photoReportSyncs.run(shareKey, 1, sync),
  };
}
