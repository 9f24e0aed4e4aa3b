import type { FastifyRequest } from 'fastify';
import { PacedQueue } from '../../limits/paced-queue.ts';
import { toNetwork } from '../../network/client-network.ts';

/**
 * Requests that no share is charged for and that begin in one turn of the event loop. Most take 50 µs of it and few a millisecond, so that a
 * turn stays short however many arrive together. Token requests that begin together share transactions.
 */
const PER_TURN = 16;

/** Requests of one address that may wait. A page of the reference has far fewer. */
const MAX_WAITING_PER_ADDRESS = 512;

/** Requests of all addresses that may wait. They take up to 80 MiB, with headers of 16 KiB each. */
const MAX_WAITING = 4_096;

interface Waiting {
  request: FastifyRequest;
  begin: () => void;
}

/** Paces requests that no share is charged for: lets each begin at once or in a later turn of the event loop, of each address in turn. */
export class PacedAdmission {
  readonly #queue = new PacedQueue<Waiting>(PER_TURN, ({ request, begin }) => {
    // The client went away while it waited, or its connection was closed.
    if (request.raw.socket.destroyed) return false;
    begin();
    return true;
  });

  /**
   * Calls `begin` when the request may begin. Closes a connection where too many wait: responses would occupy the event loop, and their clients
   * would send the next requests at once.
   */
  admit(request: FastifyRequest, begin: () => void): void {
    const waiting = { request, begin };
    if (this.#queue.tryBegin(waiting)) return;
    const address = toNetwork(request.ip);
    if (this.#queue.sizeOf(address) >= MAX_WAITING_PER_ADDRESS) {
      request.raw.socket.destroy();
      return;
    }
    this.#queue.add(address, waiting);
    if (this.#queue.size > MAX_WAITING) this.#queue.takeFromLongest()!.request.raw.socket.destroy();
  }
}
