import type { IncomingMessage, Server, ServerResponse } from 'node:http';

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
