import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Release } from '../shared/fair-semaphore.ts';
import type { FairShares } from '../shared/fair-shares.ts';
import { jsonChunks } from '../shared/json-chunks.ts';
import { inSlices } from '../shared/time-slice.ts';

/** Bytes from which a response is charged until the client has received it. Smaller ones fit the buffers of a connection. */
const CHARGED_BYTES = 16 * 1024;

/** Bytes from which a response is serialized in chunks. */
export const CHUNKED_BYTES = 256 * 1024;

/**
 * A client that sends more than its share may have waiting would be rejected as fast as it sends, which costs as much as responses.
 * On average: rejections that are delayed alike would all be sent in one turn of the event loop.
 */
const REJECTION_DELAY_MS = 500;

/** For each millisecond that a share occupied the event loop, milliseconds in which it is left to other shares. */
const PAUSE_FACTOR = 3;

/** Bytes of large values that a share may read in a millisecond, on average: to receive them occupies the event loop. */
const LARGE_READ_BYTES_PER_MS = 25_000;
const MAX_PAUSE_MS = 2_000;

/** Times that the event loop passes over a large value to write it: it is read, compared, escaped, encoded and sent. */
const WRITE_FACTOR = 4;

/** Milliseconds in which a client must take some part of a large response. */
const STALLED_MS = 30_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** What an authenticated request uses of its share; null before, and for requests that are not limited by shares. */
    usage: RequestUsage | null;
  }
}

/** What one request holds of the limits that callers share. Everything is released when its response ends. */
export class RequestUsage {
  readonly #shares: FairShares;
  readonly #shareKey: string;
  readonly #releases: Release[] = [];
  #execution: Release | null = null;
  #largeRead: Promise<Release> | null = null;
  #heldBytes = 0;
  /** Bytes of a response that is sent as a stream. */
  streamedBytes = 0;

  constructor(shares: FairShares, shareKey: string) {
    this.#shares = shares;
    this.#shareKey = shareKey;
  }

  /** Waits until the request may execute; undefined where it may at once. Rejects with 429 or 503. */
  begin(): Promise<void> | undefined {
    const { requests } = this.#shares;
    this.#execution = requests.tryAcquire(this.#shareKey);
    if (this.#execution) return undefined;
    return requests.acquire(this.#shareKey).then(
      (release) => {
        this.#execution = release;
      },
      async (error) => {
        await sleep(REJECTION_DELAY_MS * (0.5 + Math.random()));
        throw error;
      },
    );
  }

  /**
   * Waits until the share may occupy the event loop for milliseconds. The function that is returned ends it: after a pause of some
   * times as long, so that a share occupies the event loop for part of the time only.
   */
  async occupyEventLoop(): Promise<Release> {
    const release = await this.#shares.eventLoop.acquire(this.#shareKey);
    const startedAt = performance.now();
    let hasEnded = false;
    const end = () => {
      if (!hasEnded) setTimeout(release, PAUSE_FACTOR * (performance.now() - startedAt));
      hasEnded = true;
    };
    this.onEnd(end);
    return end;
  }

  /** Waits until the request may hold large values; they are released with its response. */
  async acquireLargeRead(): Promise<void> {
    this.#largeRead ??= this.#shares.largeReads.acquire(this.#shareKey).then((release) => () => {
      setTimeout(release, Math.min(MAX_PAUSE_MS, this.#heldBytes / LARGE_READ_BYTES_PER_MS));
    });
    this.onEnd(await this.#largeRead);
  }

  /** Waits until the request may write large values, as it waits to read them; they are released with its response. */
  async acquireLargeWrite(bytes: number): Promise<void> {
    await this.acquireLargeRead();
    this.#heldBytes += bytes * WRITE_FACTOR;
  }

  /** Counts bytes of large values that the request holds. */
  countLargeBytes(bytes: number): void {
    this.#heldBytes += bytes;
  }

  /** Runs a read that may take long, once the share has room for it. */
  runSlowRead<T>(read: () => Promise<T>): Promise<T> {
    return this.#shares.slowReads.run(this.#shareKey, 1, read);
  }

  runTransaction<T>(transaction: () => Promise<T>): Promise<T> {
    return this.#shares.transactions.run(this.#shareKey, 1, transaction);
  }

  runWrite<T>(transaction: () => Promise<T>): Promise<T> {
    return this.#shares.writes.run(this.#shareKey, 1, transaction);
  }

  /** Calls the function when the response has ended, whether or not the client received it. */
  onEnd(release: Release): void {
    this.#releases.push(release);
  }

  /** The response is ready: from here on the request waits for its client only. Undefined where it may be sent at once. */
  respond(bytes: number): Promise<void> | undefined {
    this.#execution?.();
    if (bytes < CHARGED_BYTES) return undefined;
    const { responseBytes } = this.#shares;
    const release = responseBytes.tryAcquire(this.#shareKey, bytes);
    if (release) {
      this.#charge(release);
      return undefined;
    }
    return responseBytes.acquire(this.#shareKey, bytes).then((granted) => this.#charge(granted));
  }

  end(): void {
    this.#execution?.();
    for (const release of this.#releases) release();
  }

  /** A slow client holds unsent bytes, and no longer what others need to build their responses. */
  #charge(release: Release): void {
    this.onEnd(release);
    this.#largeRead?.then(
      (releaseRead) => releaseRead(),
      () => undefined,
    );
  }
}

/** Charges responses to the share of their request until they have been received. */
export function installRequestUsage(app: FastifyInstance): void {
  app.decorateRequest('usage', null);
  app.addHook('onSend', ({ usage }, _reply, payload, done) => {
    if (!usage) return done();
    const bytes = typeof payload === 'string' ? payload.length : usage.streamedBytes;
    const waiting = usage.respond(bytes);
    if (waiting) waiting.then(() => done(), done);
    else done();
  });
  app.addHook('onResponse', ({ usage }, _reply, done) => {
    usage?.end();
    done();
  });
}

/** Sends a body as JSON: a large one in chunks, which leave the event loop to other requests between them. */
export function sendJson(request: FastifyRequest, reply: FastifyReply, body: unknown, bytes: number): FastifyReply {
  if (bytes < CHUNKED_BYTES) return reply.send(body);
  if (request.usage) request.usage.streamedBytes = bytes;
  reply.raw.setTimeout(STALLED_MS, () => reply.raw.destroy());
  return reply
    .removeHeader('Content-Length')
    .type('application/json; charset=utf-8')
    .send(Readable.from(inSlices(jsonChunks(body)), { highWaterMark: 1 }));
}
