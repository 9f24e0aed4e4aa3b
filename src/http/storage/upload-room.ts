import type { FastifyReply } from 'fastify';
import type { FairSemaphore } from '../../limits/fair-semaphore.ts';
import { holdUntilClosed } from './hold-until-closed.ts';

const MIB = 1024 * 1024;

/** MiB that a transfer counts as at least, which bounds those of small files to 128 per share. */
export const MIN_COST = 8;

/** Seconds in which an upload would take up its room at the slowest rate that is accepted. */
const MAX_SECONDS = 900;

/** Seconds that an upload may be behind that rate: fewer than another one waits for room. */
const MAX_LAG_SECONDS = 8;

const CHECK_INTERVAL_MS = 1_000;

/**
 * Room on the disk that one upload holds in `FairShares.transfers`, in MiB, until its response is sent or its connection closes. It closes the
 * connection of an upload that is received too slowly for its room (LIM-26): otherwise four shares could hold all room and send nothing.
 */
export class UploadRoom {
  readonly #transfers: FairSemaphore;
  readonly #shareKey: string;
  readonly #reply: FastifyReply;
  #cost = 0;

  constructor(transfers: FairSemaphore, shareKey: string, reply: FastifyReply) {
    this.#transfers = transfers;
    this.#shareKey = shareKey;
    this.#reply = reply;
  }

  /** Waits until the upload holds room for so many bytes in all. Rejects with 429 or 503. */
  async reserve(bytes: number): Promise<void> {
    const isFirst = this.#cost === 0;
    const needed = Math.min(Math.max(MIN_COST, Math.ceil(bytes / MIB)), this.#transfers.perShare);
    const cost = needed - this.#cost;
    if (cost <= 0) return;
    await holdUntilClosed(this.#transfers, { shareKey: this.#shareKey, cost }, this.#reply);
    this.#cost += cost;
    if (isFirst) this.#closeWhenSlow();
  }

  #closeWhenSlow(): void {
    const { request, raw } = this.#reply;
    const { socket } = request.raw;
    const startedAt = performance.now();
    const bytesBefore = socket.bytesRead;
    const timer = setInterval(() => {
      if (request.raw.complete) clearInterval(timer);
      const received = (socket.bytesRead - bytesBefore) / MIB;
      const allowedSeconds = MAX_LAG_SECONDS + (MAX_SECONDS * received) / this.#cost;
      if (!request.raw.complete && performance.now() - startedAt > 1_000 * allowedSeconds) socket.destroy();
    }, CHECK_INTERVAL_MS).unref();
    raw.once('close', () => clearInterval(timer));
  }
}
