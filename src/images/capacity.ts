import type { Release } from '../limits/fair-semaphore.ts';
import { ApiError, unavailable } from '../shared/errors.ts';

/** Maximum milliseconds that an image waits for its check. */
export const MAX_WAIT_MS = 10_000;

/** The limit of the share or of the service is reached. In a bulk call, only the image concerned fails. */
export class NoCapacityError extends ApiError {
  constructor({ code, message, cause, headers }: ApiError) {
    super(code, message, { cause, headers });
  }
}

/**
 * Acquires a slot within a time limit. Rejects with `RATE_LIMITED` when too many images of the share wait already, and with `UNAVAILABLE`
 * after the limit.
 *
 * @param signal ends the wait; rejects with its reason.
 */
export async function acquireInTime(
  acquire: (signal: AbortSignal) => Promise<Release>,
  { signal, maxWaitMs = MAX_WAIT_MS }: { signal?: AbortSignal; maxWaitMs?: number },
): Promise<Release> {
  const deadline = AbortSignal.timeout(maxWaitMs);
  try {
    return await acquire(signal ? AbortSignal.any([signal, deadline]) : deadline);
  } catch (error) {
    signal?.throwIfAborted();
    if (deadline.aborted) throw new NoCapacityError(unavailable(error));
    throw error instanceof ApiError ? new NoCapacityError(error) : error;
  }
}
