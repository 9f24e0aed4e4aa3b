/** What the supervisor sends to a worker. */
export type SupervisorMessage = { type: 'drain' } | { type: 'stop' };

/** What a worker sends to its supervisor. Readiness is the `listening` event of node:cluster. */
export type WorkerMessage =
  /** The event loop runs. */
  | { type: 'heartbeat' }
  /** The worker cannot start or stop; the reason is for the operator. */
  | { type: 'failure'; reason: string };

export const HEARTBEAT_MS = 500;
