import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../shared/errors.ts';
import { getErrorCode } from '../errors.ts';

/** Thrown by a transaction whose reads a concurrent transaction has outdated, so that it is rolled back and run again. */
export class ConcurrentUpdateError extends Error {
  override name = 'ConcurrentUpdateError';
}

/** SQLSTATEs of deadlock, serialization failure, and unique violation: another transaction has inserted the key since it was read. */
const RETRYABLE = new Set(['40P01', '40001', '23505']);
const ATTEMPTS = 5;

/**
 * Runs one transaction, and again in a new one when a concurrent transaction prevented it. All write transactions use this retry
 * policy. The transaction must be safe to repeat: it has no effect outside the database when it fails.
 *
 * @throws `UNAVAILABLE` after the fifth attempt; any other error at once.
 */
export async function retryTransaction<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      await waitForRetry(error, count);
    }
  }
}

/** Waits before the next attempt of a transaction that failed with the error. Throws where there is none. */
export async function waitForRetry(error: unknown, attempts: number): Promise<void> {
  if (!isRetryable(error)) throw error;
  if (attempts === ATTEMPTS) throw unavailable(error);
  // Random, so that the transactions do not collide again.
  await sleep(Math.random() * 5 * 2 ** attempts);
}

function isRetryable(error: unknown): boolean {
  if (error instanceof ConcurrentUpdateError) return true;
  return RETRYABLE.has(getErrorCode(error) ?? '');
}
