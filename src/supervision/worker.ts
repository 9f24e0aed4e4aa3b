import { shareMetrics } from '../http/metrics/metrics.ts';
import { HEARTBEAT_MS, type SupervisorMessage, type WorkerMessage } from './messages.ts';

interface SupervisorHandlers {
  /** Called when the instance must report that it is not ready, and keep serving. */
  drain: () => void;
  stop: () => void;
}

/**
 * Starts sending heartbeats and handling the supervisor's messages. Signals are ignored, because those of a terminal reach every process
 * and the supervisor handles them.
 */
export function handleSupervisorMessages({ drain, stop }: SupervisorHandlers): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('message', ({ type }: SupervisorMessage) => {
    if (type === 'drain') drain();
    if (type === 'stop') stop();
  });
  setInterval(() => sendToSupervisor({ type: 'heartbeat' }), HEARTBEAT_MS).unref();
  shareMetrics();
}

/** Reports why this worker cannot start or stop. Resolves when the message is sent. */
export const reportFailure = (reason: string): Promise<void> =>
  new Promise((sent) => {
    sendToSupervisor({ type: 'failure', reason }, () => sent());
  });

function sendToSupervisor(message: WorkerMessage, sent: () => void = () => undefined): void {
  process.send!(message, undefined, undefined, sent);
}
