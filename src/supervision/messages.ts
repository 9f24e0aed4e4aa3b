/** What the supervisor sends to a worker. */
export type SupervisorMessage =
  /** The worker is no longer a standby: connections follow. */
  | { type: 'serve' }
  /** Carries the socket as its handle. */
  | { type: 'connection' }
  | { type: 'draining' }
  | { type: 'stop' };

/** What a worker sends to its supervisor. */
export type WorkerMessage =
  /** The worker is ready to serve. */
  | { type: 'ready' }
  /** The worker has taken over the connection that was sent last. */
  | { type: 'accepted' }
  /** The event loop runs. */
  | { type: 'heartbeat' }
  /** The worker cannot start; the reason is for the operator. */
  | { type: 'failure'; reason: string };

export const HEARTBEAT_MS = 500;
