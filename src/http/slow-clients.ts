import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

/**
 * Closes connections where a request takes longer than the limit, from its headers to the end of its response. The rest of a request that
 * has had its response is read and discarded; otherwise the connection would block.
 */
export function closeSlowConnections(server: Pick<Server, 'on'>, milliseconds: number): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const timer = setTimeout(() => response.destroy(), milliseconds).unref();
    response.on('close', () => {
      clearTimeout(timer);
      if (!request.complete) request.resume();
    });
  });
}

/** Maximum concurrent requests per connection. */
const MAX_PIPELINED = 4;

/**
 * Closes connections with too many pipelined requests: Node parses all that arrive together in one iteration of the event loop, before
 * those of other connections.
 */
export function limitPipelining(app: FastifyInstance): void {
  const openRequests = new WeakMap<object, number>();
  app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    const count = (openRequests.get(socket) ?? 0) + 1;
    openRequests.set(socket, count);
    if (count <= MAX_PIPELINED) return done();
    reply.hijack();
    socket.destroy();
  });
  app.addHook('onResponse', ({ raw: { socket } }, _reply, done) => {
    openRequests.set(socket, openRequests.get(socket)! - 1);
    done();
  });
}
