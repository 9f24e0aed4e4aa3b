import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { stopConnection } from '../../node-internals/http-parser.ts';

/** Closes connections where a request takes longer than the limit, from its headers to the end of its response. */
export function closeSlowConnections(server: Pick<Server, 'on'>, milliseconds: number): void {
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    const timer = setTimeout(() => response.destroy(), milliseconds).unref();
    response.on('close', () => clearTimeout(timer));
  });
}

/** Maximum concurrent requests per connection. */
const MAX_PIPELINED = 4;

/** Property of a connection. A WeakMap would take 1 µs of every request. */
const OPEN_REQUESTS = Symbol('open requests');

type CountedSocket = Socket & { [OPEN_REQUESTS]?: number };

/** Whether a request of the connection has been received. */
export const hasSentRequest = (socket: CountedSocket): boolean => socket[OPEN_REQUESTS] !== undefined;

/**
 * Closes connections with too many pipelined requests: Node parses all that arrive together in one iteration of the event loop, before
 * those of other connections.
 */
export function limitPipelining(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const socket = request.raw.socket as CountedSocket;
    socket[OPEN_REQUESTS] = (socket[OPEN_REQUESTS] ?? 0) + 1;
    if (socket[OPEN_REQUESTS] > MAX_PIPELINED) {
      reply.hijack();
      stopConnection(socket);
      socket.destroy();
      // Not before all listeners of the request have added theirs for its close: their timers would keep the response in memory.
      process.nextTick(closeWithoutSocket, reply.raw);
      return;
    }
    if (socket[OPEN_REQUESTS] > 1) closeWithConnection(reply.raw, socket);
    done();
  });
  app.addHook('onResponse', (request, _reply, done) => {
    (request.raw.socket as CountedSocket)[OPEN_REQUESTS]!--;
    done();
  });
}

/**
 * Closes a response that is behind another one of its connection when the connection closes. Node closes only the first of them: the others
 * would keep their permits, and their timers would keep them in memory (LIM-30).
 */
function closeWithConnection(response: ServerResponse, socket: Socket): void {
  const close = () => closeWithoutSocket(response);
  socket.once('close', close);
  response.once('close', () => socket.off('close', close));
}

/** Closes a response that has not become the first of its connection. */
function closeWithoutSocket(response: ServerResponse): void {
  if (response.socket) return;
  response.destroy();
  response.emit('close');
}
