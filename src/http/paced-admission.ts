import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toNetwork } from '../shared/network.ts';
import { RoundRobinQueue } from '../shared/round-robin-queue.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route charges every request with a valid access token to a share, and answers no other request with success. */
    chargesShare?: boolean;
  }
}

/**
 * Requests that no share is charged for and that begin in one turn of the event loop. Each takes up to a millisecond of it, so that a turn
 * stays within a few milliseconds however many arrive together.
 */
const PER_TURN = 4;

/** Requests of one address that may wait. A page of the reference has far fewer. */
const MAX_WAITING_PER_ADDRESS = 512;

/** Requests of all addresses that may wait. They take up to 80 MiB, with headers of 16 KiB each. */
const MAX_WAITING = 4_096;

interface Waiting {
  request: FastifyRequest;
  begin: () => void;
}

/** Admits a few requests in each turn of the event loop, one of each address in turn. */
class PacedAdmission {
  readonly #waiting = new RoundRobinQueue<Waiting>();
  #admitted = 0;
  #isScheduled = false;

  /**
   * Calls the function at once, or in a later turn of the event loop. Closes a connection where too many requests wait: responses would
   * occupy the event loop, and their clients would send the next requests at once.
   */
  admit(request: FastifyRequest, begin: () => void): void {
    if (this.#admitted < PER_TURN && this.#waiting.size === 0) {
      this.#admitted++;
      begin();
    } else {
      this.#enqueue(request, begin);
    }
    this.#schedule();
  }

  #enqueue(request: FastifyRequest, begin: () => void): void {
    const address = toNetwork(request.ip);
    if (this.#waiting.sizeOf(address) >= MAX_WAITING_PER_ADDRESS) {
      request.raw.socket.destroy();
      return;
    }
    this.#waiting.add(address, { request, begin });
    if (this.#waiting.size > MAX_WAITING) this.#waiting.takeFromLongest()!.request.raw.socket.destroy();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isScheduled = false;
    this.#admitted = 0;
    while (this.#admitted < PER_TURN) {
      const next = this.#waiting.take();
      if (!next) break;
      // The client went away while it waited, or its connection was closed.
      if (next.request.raw.socket.destroyed) continue;
      this.#admitted++;
      next.begin();
    }
    if (this.#admitted > 0) this.#schedule();
  }
}

/**
 * Paces requests that no share is charged for. Those with a token that was verified before are admitted at once on routes with
 * `chargesShare`: `requests` limits them per share.
 *
 * @param isVerified Whether the `Authorization` header was accepted a short time ago.
 */
export function paceUncharged(app: FastifyInstance, isVerified: (authorization: string) => boolean): void {
  const admission = new PacedAdmission();
  app.addHook('onRequest', (request, _reply, done) => {
    const { authorization } = request.headers;
    const isCharged =
      authorization !== undefined && isVerified(authorization) && request.routeOptions.config.chargesShare === true;
    if (isCharged) done();
    else admission.admit(request, done);
  });
}
