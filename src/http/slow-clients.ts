import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

/**
 * Ends connections over which an exchange, from the request's headers to the end of its response, takes longer than that. What is
 * still to come of a request that has had its answer is read and thrown away: the connection would be stuck for ever.
 */
export function cutSlowClients(server: Pick<Server, 'on'>, milliseconds: number): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const timer = setTimeout(() => response.destroy(), milliseconds).unref();
    response.on('close', () => {
      clearTimeout(timer);
      if (!request.complete) request.resume();
    });
  });
}

/** Requests of one connection that may be under way at a time. */
const MAX_PIPELINED = 16;

/**
 * Ends connections that send many requests without waiting for their responses: Node parses all that arrive together in one turn of
 * the event loop, before anybody else's.
 */
export function limitPipelining(app: FastifyInstance): void {
  const underWay = new WeakMap<object, number>();
  app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    const count = (underWay.get(socket) ?? 0) + 1;
    underWay.set(socket, count);
    if (count <= MAX_PIPELINED) return done();
    reply.hijack();
    socket.destroy();
  });
  app.addHook('onResponse', ({ raw: { socket } }, _reply, done) => {
    underWay.set(socket, underWay.get(socket)! - 1);
    done();
  });
}
