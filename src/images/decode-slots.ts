import type { Release } from '../shared/fair-semaphore.ts';
import type { FairShares } from '../shared/fair-shares.ts';
import { acquireInTime } from './capacity.ts';
import { SMALL_PIXELS } from './decode.ts';
import { countPixels, type ImageHeader } from './header.ts';

const SMALL_MEMORY = 32 * 1024 * 1024;

/** Units of `largeImageDecodes`. Two large images decode at a time, of which at most one needs more than `USUAL_MEMORY`. */
const LARGE_COST = { usual: 3, muchMemory: 4 };
const USUAL_MEMORY = 80 * 1024 * 1024;

/** The fair share that an image check is charged to. */
export interface DecodeShare {
  readonly shares: Pick<FairShares, 'imageDecodes' | 'largeImageDecodes'>;
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
  const { imageDecodes, largeImageDecodes } = shares;
  if (!isSmall(header)) {
    const cost = header.memory <= USUAL_MEMORY ? LARGE_COST.usual : LARGE_COST.muchMemory;
    return acquireInTime((signal) => largeImageDecodes.acquire(shareKey, cost, signal), options);
  }
  const free = imageDecodes.tryAcquire(shareKey) ?? largeImageDecodes.tryAcquire(shareKey, LARGE_COST.usual);
  return free ?? acquireInTime((signal) => imageDecodes.acquire(shareKey, 1, signal), options);
}

const isSmall = (header: ImageHeader) => countPixels(header) <= SMALL_PIXELS && header.memory <= SMALL_MEMORY;
