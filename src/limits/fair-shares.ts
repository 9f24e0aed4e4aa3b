import { type ConnectionSplit, splitConnections } from './connection-split.ts';
import { FairSemaphore, type FairSemaphoreOptions } from './fair-semaphore.ts';

/** Bytes of the unit of the limit of memory. */
export const KIB = 1024;
const KIB_PER_MIB = 1024;

/** What a test of a webhook endpoint counts as in `waits`, so that a share has four at a time (WHK-14, CON-16). */
export const WEBHOOK_TEST_COST = 16;

/** Requests of waits are rejected at once where there is no room: they would only wait to wait. */
const NO_QUEUE = { maxQueuedPerShare: 0, maxQueued: 0 };

const LONG_QUEUE = { maxQueuedPerShare: 256, maxQueued: 1_024 };

/**
 * Limits of one instance, of which each worker has its part, except of the lengths of queues. No share may use the whole capacity, unless that
 * is 1, so that a caller who fills its share delays only itself. docs/isolation.md explains each.
 */
const INSTANCE_LIMITS = {
  /** Requests from their authentication until their response is ready. One occupies the event loop for about a millisecond in all. */
  requests: {
    name: 'requests',
    capacity: 128,
    perShare: 32,
    perShareContended: 6,
    perTurnContended: 1,
    // A client that pauses between its requests stays active, so that others keep to the contended limits.
    activeForMs: 100,
    ...LONG_QUEUE,
  },
  /** Cost of GraphQL requests that execute: records times selected fields. */
  graphqlCost: { name: 'GraphQL cost', capacity: 120_000, perShare: 80_000, perShareContended: 4_000 },
  /** Work that occupies the event loop for milliseconds: new GraphQL documents, and JSON bodies of many values. */
  parsing: { name: 'parsing', capacity: 2, perShare: 1, ...LONG_QUEUE },
  /** KiB of large bodies until their response is ready, of large values until it is received, and of responses that are not yet received. */
  memory: {
    name: 'memory',
    capacity: 256 * KIB_PER_MIB,
    perShare: 64 * KIB_PER_MIB,
    // Requests that wait before their body is received hold a permit to execute.
    maxQueuedPerShare: 24,
  },
  /** Checks of images up to 16 megapixels, and hashes of passwords. Each keeps one of the four threads of libuv's pool busy. */
  threads: { name: 'threads', capacity: 4, perShare: 1, chargesTime: true },
  /** Checks of larger images, and renditions. Each takes up to 240 MiB. */
  largeImages: { name: 'large images', capacity: 2, perShare: 1, chargesTime: true },
  /** MiB of files that are received, sent or downloaded: room on the disk, and files or connections to the store that are open. */
  transfers: { name: 'transfers', capacity: 4_096, perShare: 1_024 },
  /** Requests that wait for an event, a rendition or a receiver of webhooks. They hold nothing else meanwhile. */
  waits: { name: 'waits', capacity: 512, perShare: 64, ...NO_QUEUE },
} satisfies Record<string, FairSemaphoreOptions>;

/** Concurrent writes of a share in an instance. */
const WRITES_PER_SHARE = 8;

/** Concurrent slow reads of a share in an instance. Each may keep a processor of the database busy. */
const SLOW_READS_PER_SHARE = 2;

/**
 * Creates a worker's limits, each divided fairly between shares.
 *
 * @param workers Workers of the instance: a share has its part of the limit in each.
 * @param connections Sizes of the worker's connection pools of a region.
 */
export function createFairShares(workers = 1, { slowReads, writes, orm }: ConnectionSplit = splitConnections()) {
  const divide = (limit: number) => Math.max(1, Math.floor(limit / workers));
  const create = (options: FairSemaphoreOptions) => {
    const { capacity, perShare, perShareContended } = options;
    return new FairSemaphore({
      ...options,
      capacity: divide(capacity),
      perShare: divide(perShare),
      perShareContended: perShareContended && divide(perShareContended),
    });
  };
  const requests = create(INSTANCE_LIMITS.requests);
  return {
    requests,
    graphqlCost: create({ ...INSTANCE_LIMITS.graphqlCost, activity: requests }),
    parsing: create(INSTANCE_LIMITS.parsing),
    memory: create(INSTANCE_LIMITS.memory),
    threads: create(INSTANCE_LIMITS.threads),
    largeImages: create(INSTANCE_LIMITS.largeImages),
    transfers: create(INSTANCE_LIMITS.transfers),
    waits: create(INSTANCE_LIMITS.waits),
    /** Reads that may take long: far down a list, or counted without an index. */
    slowReads: new FairSemaphore({
      name: 'slow reads',
      capacity: slowReads,
      perShare: Math.min(divide(SLOW_READS_PER_SHARE), Math.ceil(slowReads / 2)),
      perShareContended: 1,
      activity: requests,
      ...LONG_QUEUE,
    }),
    /** Transactions, of either pool. Work that no share is charged for, such as OAuth, needs connections too. */
    writes: new FairSemaphore({
      name: 'writes',
      capacity: Math.max(1, Math.min(writes, orm) - 2),
      perShare: Math.min(divide(WRITES_PER_SHARE), Math.max(1, Math.min(writes, orm) - 3)),
      ...LONG_QUEUE,
    }),
  };
}

export type FairShares = ReturnType<typeof createFairShares>;
