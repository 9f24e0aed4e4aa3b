import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { shareMetrics } from '../http/metrics.ts';
import { HEARTBEAT_MS, type SupervisorMessage, type WorkerMessage } from './messages.ts';

interface SupervisorHandlers {
  /** Called when the worker is no longer a standby. */
  serve: () => void;
  /** Called when the instance must report that it is not ready, and keep serving. */
  drain: () => void;
  stop: () => void;
}

/**
 * Starts sending heartbeats and handling the supervisor's messages. Signals are ignored, because those of a terminal reach every process
 * and the supervisor handles them.
 */
export function handleSupervisorMessages({ serve, drain, stop }: SupervisorHandlers): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('message', ({ type }: SupervisorMessage) => {
    if (type === 'serve') serve();
    if (type === 'draining') drain();
    if (type === 'stop') stop();
  });
  setInterval(() => sendToSupervisor({ type: 'heartbeat' }), HEARTBEAT_MS).unref();
  shareMetrics();
}

/**
 * Serves the connections that the supervisor sends. The returned function resolves when open requests are finished. The server does not
 * listen itself, so Node neither counts nor closes its connections.
 */
export function receiveConnections(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  let isStopping = false;
  process.on('message', ({ type }: SupervisorMessage, socket?: Socket) => {
    if (type !== 'connection') return;
    // Before anything is read from it: until then the supervisor may send it to another worker.
    sendToSupervisor({ type: 'accepted' });
    if (!socket) return;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    server.emit('connection', socket);
  });
  server.prependListener('request', (_request, response) => {
    if (isStopping) response.setHeader('Connection', 'close');
    // The connection is idle only when all listeners have run.
    response.once('close', () => isStopping && setImmediate(() => server.closeIdleConnections()));
  });
  // Node starts checking the time limits of headers and requests on this event.
  server.emit('listening');
  sendToSupervisor({ type: 'ready' });
  return async () => {
    isStopping = true;
    server.closeIdleConnections();
    await Promise.all([...sockets].map((socket) => new Promise((closed) => socket.once('close', closed))));
  };
}

/** Reports why this worker cannot start. Resolves when the message is sent. */
export function reportFailure(reason: string): Promise<void> {
  return new Promise((sent) => {
    sendToSupervisor({ type: 'failure', reason }, () => sent());
  });
}

function sendToSupervisor(message: WorkerMessage, sent: () => void = () => undefined): void {
  process.send!(message, undefined, undefined, sent);
}
