import { type ConnectionSplit, splitConnections } from './connection-split.ts';
import { FairSemaphore } from './fair-semaphore.ts';

const MIB = 1024 * 1024;

/**
 * Creates the limits of one process, each divided fairly between shares. No share may use the whole capacity, so that a caller who
 * fills its share delays only itself.
 *
 * @param connections Sizes of the connection pools of a region.
 */
export function createFairShares({ slowReads, writes, orm }: ConnectionSplit = splitConnections()) {
  // Work that no share is charged for, such as OAuth, needs connections of MikroORM too.
  const transactions = Math.max(1, orm - 2);
  const requests = new FairSemaphore({
    // A request occupies the event loop for about a millisecond in all.
    ...{ name: 'requests', capacity: 128, perShare: 32, perShareContended: 6, perTurnContended: 1 },
    // A client that sends one request after the other, with pauses, finds the contended limits of others at each.
    activeForMs: 100,
    ...{ maxQueuedPerShare: 256, maxQueued: 1_024, maxWaitMs: 10_000 },
  });
  return {
    /** Requests from their authentication until their response is ready. */
    requests,
    /** Requests that wait for events. They hold nothing else meanwhile. */
    eventWaits: new FairSemaphore({
      ...{ name: 'waits for events', capacity: 512, perShare: 64 },
      ...{ maxQueuedPerShare: 16, maxQueued: 64, maxWaitMs: 1_000 },
    }),
    /** Test events, each of which waits up to 15 seconds for a receiver. */
    webhookTests: new FairSemaphore({
      ...{ name: 'webhook tests', capacity: 32, perShare: 4 },
      ...{ maxQueuedPerShare: 0, maxQueued: 0, maxWaitMs: 1_000 },
    }),
    /** Cost of GraphQL requests that execute: records times selected fields. */
    graphqlCost: new FairSemaphore({
      ...{ name: 'GraphQL cost', capacity: 120_000, perShare: 80_000, perShareContended: 4_000, activity: requests },
      ...{ maxQueuedPerShare: 64, maxQueued: 256, maxWaitMs: 10_000 },
    }),
    /** Work that occupies the event loop for milliseconds: new GraphQL documents, and JSON bodies of many values. */
    eventLoop: new FairSemaphore({
      ...{ name: 'parsing', capacity: 2, perShare: 1 },
      ...{ maxQueuedPerShare: 256, maxQueued: 1_024, maxWaitMs: 10_000 },
    }),
    /** Reads that may take long: far down a list, or counted without an index. */
    slowReads: new FairSemaphore({
      // Each may keep a processor of the database busy.
      ...{ name: 'slow reads', capacity: slowReads, perShare: Math.ceil(slowReads / 2) },
      ...{ perShareContended: 1, activity: requests },
      ...{ maxQueuedPerShare: 256, maxQueued: 1_024, maxWaitMs: 10_000 },
    }),
    /** Transactions of MikroORM. */
    transactions: new FairSemaphore({
      ...{ name: 'transactions', capacity: transactions, perShare: Math.ceil(0.6 * transactions) },
      ...{ maxQueuedPerShare: 256, maxQueued: 1_024, maxWaitMs: 10_000 },
    }),
    /** Transactions of prepared statements. The capacity equals the number of their connections. */
    writes: new FairSemaphore({
      ...{ name: 'writes', capacity: writes, perShare: Math.max(1, writes - 2) },
      ...{ maxQueuedPerShare: 256, maxQueued: 1_024, maxWaitMs: 10_000 },
    }),
    /** Requests that hold large values until their response is charged. Its share may have too many unsent bytes meanwhile. */
    largeResponses: new FairSemaphore({
      ...{ name: 'large responses', capacity: 8, perShare: 1 },
      ...{ maxQueuedPerShare: 32, maxQueued: 128, maxWaitMs: 10_000 },
    }),
    /** Requests that read or write large values and build a response of them. */
    largeReads: new FairSemaphore({
      ...{ name: 'large reads', capacity: 2, perShare: 1 },
      ...{ maxQueuedPerShare: 32, maxQueued: 128, maxWaitMs: 10_000 },
    }),
    /** Bytes of responses up to 256 KiB that clients have not yet received: of their own, so that large ones do not delay them. */
    smallResponseBytes: new FairSemaphore({
      ...{ name: 'unsent small responses', capacity: 64 * MIB, perShare: 8 * MIB },
      ...{ maxQueuedPerShare: 256, maxQueued: 1_024, maxWaitMs: 10_000 },
    }),
    /** Bytes of larger ones. A response that is larger than the limit of a share counts as that. */
    responseBytes: new FairSemaphore({
      ...{ name: 'unsent responses', capacity: 128 * MIB, perShare: 32 * MIB },
      ...{ maxQueuedPerShare: 64, maxQueued: 256, maxWaitMs: 10_000 },
    }),
    // `acquireInTime` ends the waits of images after 10 seconds; these limits are a second bound. Decodes take from milliseconds to half a
    // minute, so their time is charged.
    /**
     * Decodes of images up to 16 megapixels. Each decode keeps a thread of libuv's pool busy: with those of large images at most
     * three, so that one of four is left for files and passwords.
     */
    imageDecodes: new FairSemaphore({
      ...{ name: 'image checks', capacity: 1, perShare: 1, chargesTime: true },
      ...{ maxQueuedPerShare: 128, maxQueued: 512, maxWaitMs: 11_000 },
    }),
    /** Decodes of larger images. One that needs more than 80 MiB of memory costs 4 units, any other 3, so that at most two run at a time. */
    largeImageDecodes: new FairSemaphore({
      ...{ name: 'large image checks', capacity: 7, perShare: 4, chargesTime: true },
      ...{ maxQueuedPerShare: 128, maxQueued: 512, maxWaitMs: 11_000 },
    }),
    /**
     * Photos that are rendered, by jobs and for requests. Each may have a copy on the disk while it waits for its decode. The capacity bounds
     * these copies, and is large because photos that wait for the decodes of large images would delay the small ones of others.
     */
    renditions: new FairSemaphore({
      ...{ name: 'renditions', capacity: 32, perShare: 2 },
      ...{ maxQueuedPerShare: 128, maxQueued: 512, maxWaitMs: 11_000 },
    }),
    /** Downloads of renditions that are not stored yet. Of the downloads of a share, half are left for stored files. */
    renditionWaits: new FairSemaphore({
      ...{ name: 'waits for renditions', capacity: 256, perShare: 64 },
      ...{ maxQueuedPerShare: 0, maxQueued: 0, maxWaitMs: 1_000 },
    }),
    /** Images that are downloaded from approved hosts. */
    imageDownloads: new FairSemaphore({
      ...{ name: 'image downloads', capacity: 32, perShare: 8 },
      ...{ maxQueuedPerShare: 128, maxQueued: 512, maxWaitMs: 11_000 },
    }),
    /** Uploads that are received, in MiB that they may take on the disk until they are stored. */
    uploads: new FairSemaphore({
      ...{ name: 'uploads', capacity: 4_096, perShare: 1_024 },
      ...{ maxQueuedPerShare: 128, maxQueued: 512, maxWaitMs: 10_000 },
    }),
    /** Downloads of stored files, each of which holds a file or a connection to the store open. */
    downloads: new FairSemaphore({
      ...{ name: 'downloads', capacity: 512, perShare: 128 },
      ...{ maxQueuedPerShare: 256, maxQueued: 1_024, maxWaitMs: 10_000 },
    }),
    /** Memory of large bodies from before they are received until their response ends, in MiB. A slow upload holds it for minutes. */
    largeBodies: new FairSemaphore({
      ...{ name: 'large bodies', capacity: 256, perShare: 32 },
      ...{ maxQueuedPerShare: 32, maxQueued: 256, maxWaitMs: 10_000 },
    }),
    /** The thread that parses large bodies. A request waits at least as long as one body of another share may take. */
    bodyParsing: new FairSemaphore({
      ...{ name: 'large body parsing', capacity: 1, perShare: 1 },
      ...{ maxQueuedPerShare: 32, maxQueued: 256, maxWaitMs: 30_000 },
    }),
    /** Photo-report syncs. The limit of 8 leaves two of the ten writes of a share to its other writes. With a limit of 6, syncs took a third longer under load. */
    photoReportSyncs: new FairSemaphore({
      ...{ name: 'photo report syncs', capacity: 16, perShare: 8 },
      ...{ maxQueuedPerShare: 128, maxQueued: 512, maxWaitMs: 10_000 },
    }),
    photoBulkUpserts: new FairSemaphore({
      ...{ name: 'photo bulk upserts', capacity: 8, perShare: 4 },
      ...{ maxQueuedPerShare: 64, maxQueued: 256, maxWaitMs: 10_000 },
    }),
  };
}

export type FairShares = ReturnType<typeof createFairShares>;
