import { createFairShares } from '../../../src/shared/fair-shares.ts';
import type { Limits } from './limits.ts';

/** The service's own semaphores. */
export function createTunedLimits(): Limits {
  const { requests, responseBytes } = createFairShares();
  return {
    tryStartRequest: (share) => requests.tryAcquire(share),
    startRequest: (share) => requests.acquire(share),
    tryStartResponse: (share, bytes) => responseBytes.tryAcquire(share, bytes),
    startResponse: (share, bytes) => responseBytes.acquire(share, bytes),
  };
}
