import type { IncomingMessage } from 'node:http';
import { toNetwork } from '../shared/network.ts';
import { RoundRobinQueue } from '../shared/round-robin-queue.ts';

/** Bytes that Node reads from a connection at a time. */
const CHUNK_BYTES = 65_536;

/** Chunks of rejected bodies that the process receives in one interval: about 64 MiB per second. */
const CHUNKS_PER_INTERVAL = 10;

const INTERVAL_MS = 10;

/** Milliseconds after its response in which a rejected body must end: as long as nginx waits by default (`lingering_time`). */
const MAX_MS = 30_000;

/** Bodies that wait for the next interval, by network address. Of the process, because its connections share one event loop. */
const waiting = new RoundRobinQueue<(bytes: number) => void>();
let timer: NodeJS.Timeout | undefined;

/**
 * Receives and discards the rest of a body whose request has its response. Otherwise a client that sends all of its body before it reads
 * would never read the response. All such bodies share one rate, each address in turn, because clients that send large bodies over many
 * connections would occupy the event loop. Closes the connection if the body does not end in time. LIM-31.
 *
 * Must be called before Node's own listener of `finish`, which receives a body that nothing has read, at any rate.
 */
export function discardBody(request: IncomingMessage): void {
  const { socket } = request;
  const address = toNetwork(socket.remoteAddress ?? '');
  const deadline = setTimeout(() => socket.destroy(), MAX_MS).unref();
  let allowed = 0;
  const receive = (bytes: number) => {
    allowed = bytes;
    request.resume();
  };
  request.on('data', (chunk: Buffer) => {
    allowed -= chunk.length;
    if (allowed > 0) return;
    request.pause();
    waiting.add(address, receive);
    timer ??= setInterval(receiveNext, INTERVAL_MS);
  });
  const end = () => {
    clearTimeout(deadline);
    socket.off('close', end);
  };
  request.once('end', end);
  socket.once('close', end);
  receive(CHUNK_BYTES);
}

/** Lets the next bodies be received; stops the timer once there are none. */
function receiveNext(): void {
  const bodies = Math.min(CHUNKS_PER_INTERVAL, waiting.size);
  if (bodies === 0) {
    clearInterval(timer);
    timer = undefined;
  }
  const bytes = (CHUNK_BYTES * CHUNKS_PER_INTERVAL) / bodies;
  for (let count = 0; count < bodies; count++) waiting.take()!(bytes);
}
