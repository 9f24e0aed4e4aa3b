import { createFairShares } from '../../../src/shared/fair-shares.ts';
import type { Limits } from './limits.ts';

/** The service's own semaphores. */
export function createTunedLimits(): Limits {
  const { requests, responseBytes } = createFairShares();
  return {
    startRequest: (share) => requests.acquire(share),
    startResponse: (share, bytes) => responseBytes.acquire(share, bytes),
  };
}
