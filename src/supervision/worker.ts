import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { shareMetrics } from '../http/metrics.ts';
import { HEARTBEAT_MS, type SupervisorMessage, type WorkerMessage } from './messages.ts';
import { YOUNG_GENERATION } from './young-generation.ts';

interface Orders {
  /** The instance is to say that it is not ready, and to answer on. */
  drain: () => void;
  stop: () => void;
}

/**
 * In a worker: begins to send heartbeats and to obey the supervisor. Signals are for the supervisor; those of a terminal reach every
 * process of the service at once.
 */
export function obeySupervisor({ drain, stop }: Orders): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('message', ({ type }: SupervisorMessage) => {
    if (type === 'draining') drain();
    if (type === 'stop') stop();
  });
  setInterval(() => tell({ type: 'heartbeat' }), HEARTBEAT_MS).unref();
  shareMetrics();
}

/**
 * Answers the requests on the connections that the supervisor sends; the answered function resolves when those that have begun are
 * finished. The server does not listen itself, so that Node neither counts its connections nor closes them.
 */
export function receiveConnections(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  let isStopping = false;
  let hasServed = false;
  process.on('message', ({ type }: SupervisorMessage, socket?: Socket) => {
    if (type !== 'connection') return;
    // Before anything is read from it: until then the supervisor may give it to another worker.
    tell({ type: 'accepted' });
    if (!hasServed) setFlagsFromString(YOUNG_GENERATION.growing);
    hasServed = true;
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
  // Node checks the time limits of headers and requests from this event on.
  server.emit('listening');
  tell({ type: 'ready' });
  return async () => {
    isStopping = true;
    server.closeIdleConnections();
    await Promise.all([...sockets].map((socket) => new Promise((closed) => socket.once('close', closed))));
  };
}

/** Reports why this worker cannot start; resolves when the supervisor has been sent it. */
export function reportFailure(reason: string): Promise<void> {
  return new Promise((sent) => {
    tell({ type: 'failure', reason }, () => sent());
  });
}

function tell(message: WorkerMessage, sent: () => void = () => undefined): void {
  process.send!(message, undefined, undefined, sent);
}
