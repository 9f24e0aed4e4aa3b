import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../shared/errors.ts';

/** Thrown by a transaction whose reads were overtaken by another transaction: nothing is kept, and the work starts again. */
export class ConcurrentUpdateError extends Error {
  override name = 'ConcurrentUpdateError';
}

/** SQLSTATEs of deadlock, serialization failure, and a unique key that another transaction took since it was looked for. */
const RETRYABLE = new Set(['40P01', '40001', '23505']);
const ATTEMPTS = 5;

/**
 * Runs one transaction, and again in a new one when a concurrent transaction prevented it. The only retry policy for write
 * transactions. The transaction must be safe to repeat: it keeps nothing outside the database when it fails.
 *
 * @throws 503 `UNAVAILABLE` after the fifth attempt; any other error at once.
 */
export async function retryTransaction<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      if (count === ATTEMPTS) throw unavailable(error);
      // The pause is random so that the transactions that collided do not collide again.
      await sleep(Math.random() * 5 * 2 ** count);
    }
  }
}

function isRetryable(error: unknown): boolean {
  if (error instanceof ConcurrentUpdateError) return true;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && RETRYABLE.has(code);
}
