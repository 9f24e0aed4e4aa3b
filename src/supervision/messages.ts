/** What the supervisor sends to a worker. A `connection` message carries the socket as its handle. */
export type SupervisorMessage = { type: 'connection' } | { type: 'draining' } | { type: 'stop' };

/** What a worker sends to its supervisor. */
export type WorkerMessage =
  /** It answers requests from now on. */
  | { type: 'ready' }
  /** It has taken over the connection that it was sent last. */
  | { type: 'accepted' }
  /** Its event loop runs. */
  | { type: 'heartbeat' }
  /** It cannot start, for a reason that an operator reads. */
  | { type: 'failure'; reason: string };

export const HEARTBEAT_MS = 500;
