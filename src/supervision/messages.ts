/** What the supervisor sends to a worker. */
export type SupervisorMessage = { type: 'draining' } | { type: 'stop' };

/** What a worker sends to its supervisor. That it listens is an event of node:cluster. */
export type WorkerMessage =
  /** The event loop runs. */
  | { type: 'heartbeat' }
  /** The worker cannot start; the reason is for the operator. */
  | { type: 'failure'; reason: string };

export const HEARTBEAT_MS = 500;
