import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { hasSentRequest } from './slow-clients.ts';

/** Milliseconds after the beginning of a stop in which a new connection may send its first request. */
const GRACE_MS = 1_000;

/**
 * Makes a stop of the server wait for requests only. Node waits for connections that have never sent a request too, for a minute, and for kept
 * connections whose last request ended after the stop had begun.
 */
export function endConnectionsOnClose(app: FastifyInstance): void {
  const { server } = app;
  const connections = new Set<Socket>();
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  app.addHook('preClose', async () => {
    const timer = setInterval(() => {
      for (const socket of connections) if (!hasSentRequest(socket)) socket.destroy();
      server.closeIdleConnections();
    }, GRACE_MS);
    server.once('close', () => clearInterval(timer));
  });
}
