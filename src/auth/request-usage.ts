import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DatabaseLimits } from '../database/database.ts';
import type { Release } from '../limits/fair-semaphore.ts';
import { type FairShares, KIB } from '../limits/fair-shares.ts';
import { ResponseMeter, SLOW_READ_COST } from '../limits/response-meter.ts';
import { inSlices } from '../limits/time-slice.ts';
import type { Caller } from './caller.ts';
import { splitJson } from './json-chunks.ts';

/** Bytes from which a response is charged until the client has received it. Smaller ones fit the buffers of a connection. */
export const CHARGED_BYTES = 16 * 1024;

/** Bytes from which a response is serialized in chunks. */
export const CHUNKED_BYTES = 256 * 1024;

/**
 * Average delay of a rejection. Without it, a client whose queue is full could retry at once, and its rejections would cost as much as
 * responses. The delay is random, because equal delays would send all rejections in one turn of the event loop.
 */
const REJECTION_DELAY_MS = 500;

/** Milliseconds of pause for each millisecond that a share has occupied the event loop, up to `MAX_PAUSE_MS`. */
const PAUSE_FACTOR = 3;

/** Part of a share's memory that one request with large values counts as. The rest is for responses beside it. */
const LARGE_READ_PART = 0.75;

/** Average bytes of large values that a share may read per millisecond: receiving them occupies the event loop. */
const LARGE_READ_BYTES_PER_MS = 25_000;
const MAX_PAUSE_MS = 2_000;

/** Times that the event loop passes over a large value to write it: it is read, compared, escaped, encoded and sent. */
const WRITE_FACTOR = 4;

/** Milliseconds without progress after which the connection of a large response is closed. */
const STALLED_MS = 30_000;

/** Bytes that a client must receive per millisecond, after `STALLED_MS` of grace: 64 KB in a second. */
const MIN_BYTES_PER_MS = 64;

declare module 'fastify' {
  interface FastifyRequest {
    /** Use of the share of an authenticated request; null before authentication and for requests without a share. */
    usage: RequestUsage | null;
    /** Null before authentication. */
    caller: Caller | null;
  }
}

/** Use that one request makes of the limits that callers share. All permits are released when its response ends, or is ready and small. */
export class RequestUsage implements DatabaseLimits {
  readonly meter = new ResponseMeter();
  readonly #shares: FairShares;
  readonly #shareKey: string;
  readonly #releases: Release[] = [];
  #execution: Release | null = null;
  /** Releases the memory of the request's large body. */
  #body: Release | null = null;
  /** The memory of large values. */
  #largeRead: Promise<void> | null = null;
  #endOccupation: Release | null = null;
  #pauseBytes = 0;
  #hasEnded = false;
  /** Bytes of a response that is sent as a stream. */
  streamedBytes = 0;

  constructor(shares: FairShares, shareKey: string) {
    this.#shares = shares;
    this.#shareKey = shareKey;
  }

  /** Waits for a permit to execute; undefined where one is free. Rejects with 429 or 503. */
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
   * Waits for a permit to occupy the event loop for some milliseconds. The returned function releases it after a pause in proportion, so
   * that a share occupies the event loop for a part of the time only.
   */
  async acquireParsingPermit(): Promise<Release> {
    const release = await this.#shares.parsing.acquire(this.#shareKey);
    const startedAt = performance.now();
    let hasEnded = false;
    const end = () => {
      if (!hasEnded) setTimeout(release, Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * (performance.now() - startedAt)));
      hasEnded = true;
    };
    this.#endOccupation = end;
    this.onEnd(end);
    return end;
  }

  /** Ends the occupation of the event loop, if there is one. */
  endOccupation(): void {
    this.#endOccupation?.();
  }

  /** Waits for the memory of a large body, which is released when the response is ready. */
  async acquireLargeBody(bytes: number, signal: AbortSignal): Promise<void> {
    const release = await this.#shares.memory.acquire(this.#shareKey, Math.ceil(bytes / KIB), signal);
    this.#body = release;
    this.onEnd(release);
  }

  /**
   * Waits for the memory of large values, of which a share has room for one request. It is released after a
   * pause in proportion to the bytes, which begins when the client has received the response.
   */
  acquireLargeRead(): Promise<void> {
    this.#largeRead ??= this.#beginLargeRead();
    return this.#largeRead;
  }

  async #beginLargeRead(): Promise<void> {
    // A body that is in memory counts already. Waiting for more beside it could wait for itself.
    if (this.#body) return;
    const { memory } = this.#shares;
    const release = await memory.acquire(this.#shareKey, LARGE_READ_PART * memory.perShare);
    this.onEnd(() => setTimeout(release, Math.min(MAX_PAUSE_MS, this.#pauseBytes / LARGE_READ_BYTES_PER_MS)));
  }

  /** Acquires the memory of large values before the request writes them, and counts their bytes. */
  async acquireLargeWrite(bytes: number): Promise<void> {
    await this.acquireLargeRead();
    this.#pauseBytes += bytes * WRITE_FACTOR;
  }

  /** Counts bytes of large values that the request holds. Throws 400 where they exceed the limit of its response. */
  countLargeBytes(bytes: number): void {
    this.#pauseBytes += bytes;
    this.meter.hold(bytes);
  }

  /** Runs a read that may take long, once the share has a permit. */
  runSlowRead<T>(read: () => Promise<T>): Promise<T> {
    this.meter.readCost += SLOW_READ_COST;
    return this.#shares.slowReads.run(this.#shareKey, 1, read);
  }

  runTransaction<T>(transaction: () => Promise<T>): Promise<T> {
    return this.#shares.writes.run(this.#shareKey, 1, transaction);
  }

  /** Runs work that waits for events. Meanwhile the request holds a permit to wait instead of its permit to execute. */
  runWait<T>(work: () => Promise<T>): Promise<T> {
    return this.runWithReleasablePermit((release) =>
      this.#shares.waits.run(this.#shareKey, 1, () => {
        release();
        return work();
      }),
    );
  }

  /** Runs work that may give the permit to execute back while it waits for others. Acquires one again afterwards. */
  async runWithReleasablePermit<T>(work: (release: Release) => Promise<T>): Promise<T> {
    const result = await work(() => {
      this.#execution?.();
      this.#execution = null;
    });
    // A request whose client has gone needs no permit, which nothing would release.
    if (!this.#hasEnded && !this.#execution) await this.begin();
    return result;
  }

  /** Calls the function when the permits of the request are released; at once where they already are. */
  onEnd(release: Release): void {
    if (this.#hasEnded) release();
    else this.#releases.push(release);
  }

  /** Releases the permits of a large response that is ready and charges its bytes; undefined where they need not wait. */
  chargeResponse(bytes: number): Promise<void> | undefined {
    this.#execution?.();
    this.endOccupation();
    // The memory of large values is that of the response, too.
    if (this.#largeRead && !this.#body) return undefined;
    this.#body?.();
    const { memory } = this.#shares;
    const cost = Math.ceil(bytes / KIB);
    const release = memory.tryAcquire(this.#shareKey, cost);
    if (release) {
      this.onEnd(release);
      return undefined;
    }
    return memory.acquire(this.#shareKey, cost).then((granted) => this.onEnd(granted));
  }

  /** Releases all permits. Further calls have no effect. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#execution?.();
    for (const release of this.#releases) release();
  }
}

/** Releases the permits when the response has ended, and closes the connection when its client does not receive it in time (LIM-27). */
export function limitResponseTime({ raw, request }: FastifyReply, usage: RequestUsage, bytes: number): void {
  // A response behind another one of its connection has no socket of its own yet.
  const close = () => request.raw.socket.destroy();
  if (bytes >= CHUNKED_BYTES) raw.setTimeout(STALLED_MS, close);
  const timer = setTimeout(close, STALLED_MS + bytes / MIN_BYTES_PER_MS);
  usage.onEnd(() => clearTimeout(timer));
  // Fastify calls no hook after a client that went away before the whole response was sent.
  if (raw.destroyed) usage.end();
  else raw.once('close', () => usage.end());
}

/** Sends a large body as JSON in chunks, between which the event loop serves other requests. */
export function sendChunked(request: FastifyRequest, reply: FastifyReply, body: unknown, bytes: number): FastifyReply {
  if (request.usage) request.usage.streamedBytes = bytes;
  return reply
    .removeHeader('Content-Length')
    .type('application/json; charset=utf-8')
    .send(Readable.from(inSlices(splitJson(body)), { highWaterMark: 1 }));
}
