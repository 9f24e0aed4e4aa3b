import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';

/** Milliseconds after the beginning of a stop in which a new connection may send its first request. */
const GRACE_MS = 1_000;

/**
 * Makes a stop of the server wait for requests only. Node waits for connections that have never sent a request too, for a minute, and for kept
 * connections whose last request ended after the stop had begun.
 */
export function endConnectionsOnClose(app: FastifyInstance): void {
  const { server } = app;
  const unused = new Set<Socket>();
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket));
  app.addHook('preClose', async () => {
    const timer = setInterval(() => {
      for (const socket of unused) socket.destroy();
      server.closeIdleConnections();
    }, GRACE_MS);
    server.once('close', () => clearInterval(timer));
  });
}
