import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyInstance, preParsingHookHandler } from 'fastify';
import { RoundRobinQueue } from '../../limits/round-robin-queue.ts';
import { toNetwork } from '../../network/client-network.ts';
import { unsupportedEncoding } from '../../shared/errors.ts';
import { bodyEndedEarly } from './receive-body.ts';

/** Bytes that Node reads from a connection at a time. */
const CHUNK_BYTES = 65_536;

/** Chunks of rejected bodies that the process receives in one interval: about 64 MiB per second. */
const CHUNKS_PER_INTERVAL = 10;

const INTERVAL_MS = 10;

/** Milliseconds after its response in which a rejected body must end: as long as nginx waits by default (`lingering_time`). */
const MAX_MS = 30_000;

/** Bytes of a rejected body after which its connection is closed. */
const MAX_BYTES = 64 * 1_048_576;

/** Bodies that wait for the next interval, by network address. Of the process, because its connections share one event loop. */
const waiting = new RoundRobinQueue<(bytes: number) => void>();
let timer: NodeJS.Timeout | undefined;

/**
 * Receives and discards the rest of a body whose request has its response. Otherwise a client that sends all of its body before it reads
 * would never read the response. All such bodies share one rate, each address in turn, because clients that send large bodies over many
 * connections would occupy the event loop. Closes the connection if the body does not end in time, or is too long. LIM-31.
 */
function receiveRest(request: IncomingMessage, closesAfterwards: boolean): void {
  const { socket } = request;
  const bytesBefore = socket.bytesRead;
  const address = toNetwork(socket.remoteAddress ?? '');
  const deadline = setTimeout(() => socket.destroy(), MAX_MS).unref();
  let allowed = 0;
  const receive = (bytes: number) => {
    allowed = bytes;
    request.resume();
  };
  request.on('data', (chunk: Buffer) => {
    allowed -= chunk.length;
    if (socket.bytesRead - bytesBefore > MAX_BYTES) socket.destroy();
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
  if (closesAfterwards) request.once('end', () => socket.destroySoon());
  socket.once('close', end);
  receive(CHUNK_BYTES);
}

/**
 * Receives and discards what remains of a request's body after its response, before Node's own listener of `finish` would receive it at any
 * rate.
 */
export function discardBody(
  request: IncomingMessage,
  response: ServerResponse,
  server: Pick<Server, 'listening'>,
): void {
  response.prependListener('finish', () => {
    const isKeptOpen = response.getHeader('connection') === 'keep-alive';
    const closesAfterwards = isKeptOpen && (!server.listening || /close/i.test(request.headers.connection ?? ''));
    if (!request.complete) receiveRest(request, closesAfterwards);
    else if (closesAfterwards) request.socket.destroySoon();
  });
}

const NO_ENCODING = /^(identity)?$/i;

/**
 * Rejects a body with a content encoding, such as gzip (HDR-2), and one whose client went away while the request waited, for its authentication
 * or for a permit: Fastify would wait forever for the events of its stream, which are over, and the request would keep its permits (LIM-30).
 *
 * Connections are kept open for the rest of a body whose response is an error: Node and Fastify would close them with bytes that are not
 * received, whose reset makes clients lose the response. `discardBody` closes them afterwards.
 */
export function rejectUnreadableBodies(app: FastifyInstance): void {
  const requireReadable: preParsingHookHandler = ({ raw, headers }, _reply, payload, done) => {
    if (raw.readableAborted) return done(bodyEndedEarly());
    const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
    done(isEmpty || NO_ENCODING.test(headers['content-encoding'] ?? '') ? null : unsupportedEncoding(), payload);
  };
  app.addHook('onRoute', (route) => {
    // Fastify reads no body of these methods.
    if (route.method === 'GET' || route.method === 'HEAD') return;
    route.preParsing = [requireReadable, ...[route.preParsing ?? []].flat()];
  });
  app.addHook('onError', ({ raw, headers }, reply, _error, done) => {
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    if (hasBody && !raw.complete) reply.header('connection', 'keep-alive');
    done();
  });
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
