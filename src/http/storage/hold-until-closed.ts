import type { FastifyReply } from 'fastify';
import type { FairSemaphore } from '../../limits/fair-semaphore.ts';

/**
 * Acquires the cost until the response is sent or the connection closes. Rejects with 429 or 503 when the wait takes too long.
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
  // The connection may have closed during the wait: the event will not occur again.
  if (raw.destroyed || closed.signal.aborted) release();
  else raw.once('finish', release).once('close', release);
  raw.off('close', abort);
}
