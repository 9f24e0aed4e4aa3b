import type { FastifyReply } from 'fastify';
import type { FairSemaphore } from './fair-semaphore.ts';

const MIB = 1024 * 1024;
/** So that a share cannot receive more than 128 small files at a time either. */
const MIN_UPLOAD_COST = 8;

/** Units of `FairShares.uploads` for a body of that many bytes. */
export const uploadCost = (bytes: number): number => Math.max(MIN_UPLOAD_COST, Math.ceil(bytes / MIB));

/**
 * Acquires the cost for as long as the exchange lasts: until the response is sent, or the connection ends. Rejects with 429 or 503
 * when it cannot be had in time.
 */
export async function holdUntilClosed(
  semaphore: FairSemaphore,
  { shareKey, cost }: { shareKey: string; cost: number },
  reply: FastifyReply,
): Promise<void> {
  const closed = new AbortController();
  const { raw } = reply;
  const abort = () => closed.abort();
  raw.once('close', abort);
  const release = await semaphore.acquire(shareKey, cost, closed.signal);
  // Where nobody waits any more, the event has passed.
  if (raw.destroyed || closed.signal.aborted) release();
  else raw.once('finish', release).once('close', release);
  raw.off('close', abort);
}
