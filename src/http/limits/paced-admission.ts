import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PacedQueue } from '../../limits/paced-queue.ts';
import { toNetwork } from '../../network/client-network.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route charges every request with a valid access token to a share, and answers no other request with success. */
    chargesShare?: boolean;
  }
}

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

/**
 * Paces requests that no share is charged for. Those with a token that was verified before are admitted at once on routes with
 * `chargesShare`: `requests` limits them per share.
 *
 * @param authenticator tells whether the token of a request was accepted a short time ago
 */
export function paceUncharged(
  app: FastifyInstance,
  authenticator: { isVerified(request: FastifyRequest): boolean },
): void {
  const queue = new PacedQueue<Waiting>(PER_TURN, ({ request, begin }) => {
    // The client went away while it waited, or its connection was closed.
    if (request.raw.socket.destroyed) return false;
    begin();
    return true;
  });
  app.addHook('onRequest', (request, _reply, begin) => {
    if (request.routeOptions.config.chargesShare === true && authenticator.isVerified(request)) begin();
    else if (!queue.tryBegin({ request, begin })) enqueue(queue, { request, begin });
  });
}

/**
 * Lets the request begin in a later turn of the event loop. Closes a connection where too many wait: responses would occupy the event loop,
 * and their clients would send the next requests at once.
 */
function enqueue(queue: PacedQueue<Waiting>, waiting: Waiting): void {
  const { ip, raw } = waiting.request;
  const address = toNetwork(ip);
  if (queue.sizeOf(address) >= MAX_WAITING_PER_ADDRESS) {
    raw.socket.destroy();
    return;
  }
  queue.add(address, waiting);
  if (queue.size > MAX_WAITING) queue.takeFromLongest()!.request.raw.socket.destroy();
}
