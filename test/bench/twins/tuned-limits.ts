import { createFairShares } from '../../../src/shared/fair-shares.ts';
import type { Limits } from './limits.ts';

/** The service's own semaphores. */
export function createTunedLimits(): Limits {
  const { requests, smallResponseBytes, writes, photoReportSyncs } = createFairShares();
  return {
    tryStartRequest: (share) => requests.tryAcquire(share),
    startRequest: (share) => requests.acquire(share),
    tryStartResponse: (share, bytes) => smallResponseBytes.tryAcquire(share, bytes),
    startResponse: (share, bytes) => smallResponseBytes.acquire(share, bytes),
    runWrite: (share, work) => writes.run(share, 1, work),
    runSync: (share, work) => photoReportSyncs.run(share, 1, work),
  };
}
