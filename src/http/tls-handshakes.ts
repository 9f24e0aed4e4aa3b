import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { FairSemaphore, Release } from '../shared/fair-semaphore.ts';
import { toNetwork } from '../shared/network.ts';
import { PacedQueue } from '../shared/paced-queue.ts';

/** Milliseconds after which a handshake that is not complete gives up its permit, so that clients that stop in it do not delay others. */
const PERMIT_MS = 2_000;

/** Milliseconds in which a handshake must be complete. */
const MAX_MS = 10_000;

/** One for all, because creating an error takes as long as a request where thousands of connections are closed together. */
const CLOSED = new Error('The client closed the connection.');

/** Handshakes that begin in one turn of the event loop. Each takes up to a millisecond. */
const PER_TURN = 4;

/**
 * Begins TLS handshakes in fair shares of network addresses, a few in each turn of the event loop, because Node would process all that arrive
 * together in one turn. Closes a connection that waits too long, and one whose handshake takes too long. LIM-33.
 *
 * The permit is held from before anything is read until the handshake is complete, because a client chooses which of its messages is the one
 * that costs.
 */
export function paceHandshakes(server: Server, handshakes: FairSemaphore): void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  /** What to call when the handshake of a connection is complete. */
  const inProgress = new WeakMap<Socket, Release>();
  const begin = (socket: Socket, release: Release) => {
    const permit = setTimeout(release, PERMIT_MS).unref();
    const deadline = setTimeout(() => socket.destroy(), MAX_MS).unref();
    const end = () => {
      clearTimeout(permit);
      clearTimeout(deadline);
      socket.off('close', end);
      release();
    };
    socket.once('close', end);
    inProgress.set(socket, end);
    for (const listener of listeners) listener.call(server, socket);
  };
  const queue = new PacedQueue<() => boolean>(PER_TURN, (beginNext) => beginNext());
  server.on('connection', (socket: Socket) => {
    const address = toNetwork(socket.remoteAddress ?? '');
    const waiting = new AbortController();
    const endWait = () => waiting.abort(CLOSED);
    // Nothing else handles errors of a connection that waits.
    socket.on('error', endWait);
    socket.once('close', endWait);
    const enqueue = (release: Release) => {
      queue.add(address, () => {
        socket.off('error', endWait);
        socket.off('close', endWait);
        if (socket.destroyed) release();
        else begin(socket, release);
        return !socket.destroyed;
      });
    };
    handshakes.acquire(address, 1, waiting.signal).then(enqueue, () => socket.destroy());
  });
  // Node has no public property for the connection that a TLS socket encrypts.
  server.on('secureConnection', ({ _parent }: TLSSocket & { _parent: Socket }) => inProgress.get(_parent)?.());
}
