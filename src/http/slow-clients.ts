import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Ends connections over which an exchange, from the request's headers to the end of its response, takes longer than that. */
export function cutSlowClients(server: Pick<Server, 'on'>, milliseconds: number): void {
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    const timer = setTimeout(() => response.destroy(), milliseconds).unref();
    response.on('close', () => clearTimeout(timer));
  });
}
