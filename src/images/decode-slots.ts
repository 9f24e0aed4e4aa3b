import type { Release } from '../limits/fair-semaphore.ts';
import type { FairShares } from '../limits/fair-shares.ts';
import { acquireInTime } from './capacity.ts';
import { SMALL_PIXELS } from './decode.ts';
import { countPixels, type ImageHeader } from './header.ts';

const SMALL_MEMORY = 32 * 1024 * 1024;

/** The fair share that an image check is charged to. */
export interface DecodeShare {
  readonly shares: Pick<FairShares, 'threads' | 'largeImages'>;
  readonly shareKey: string;
}

/**
 * Waits until the image may be decoded. Small images have their own slot, and also use free slots of large ones.
 * Rejects with `NoCapacityError`.
 *
 * @param signal ends the wait; rejects with its reason.
 */
export async function acquireDecodeSlot(
  { shares, shareKey }: DecodeShare,
  header: ImageHeader,
  options: { signal?: AbortSignal; maxWaitMs?: number } = {},
): Promise<Release> {
  options.signal?.throwIfAborted();
  const { threads, largeImages } = shares;
  if (!isSmall(header)) return acquireInTime((signal) => largeImages.acquire(shareKey, 1, signal), options);
  const free = threads.tryAcquire(shareKey) ?? largeImages.tryAcquire(shareKey);
  return free ?? acquireInTime((signal) => threads.acquire(shareKey, 1, signal), options);
}

const isSmall = (header: ImageHeader) => countPixels(header) <= SMALL_PIXELS && header.memory <= SMALL_MEMORY;
