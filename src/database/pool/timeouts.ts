/** Milliseconds that a statement may take, the wait for its locks included, before PostgreSQL cancels it. */
export const STATEMENT_MS = 6_000;

/** Milliseconds by which the wait for an answer exceeds the time of its statement. */
export const QUERY_MARGIN_MS = 1_000;

/** Milliseconds that a statement may wait for a lock. */
export const LOCK_MS = 4_000;

/** Milliseconds after which PostgreSQL ends a transaction in which nothing happens: an instance that hangs holds no locks. */
export const IDLE_TRANSACTION_MS = 10_000;

/** Milliseconds for a new connection, and for a free one of a pool. */
export const CONNECT_MS = 4_000;

/**
 * How long the driver waits. Together with the settings of the session (session-settings.ts) this bounds how long a request may be
 * held up by its database. All connections are pipelined: one on which an answer is overdue is then destroyed, with all that waits
 * on it.
 */
export const TIMEOUTS = {
  connectionTimeoutMillis: CONNECT_MS,
  // A PostgreSQL that hangs cancels nothing, so the answer itself has a limit.
  query_timeout: STATEMENT_MS + QUERY_MARGIN_MS,
  keepAlive: true,
  // Newer than the type definitions.
  pipeline: true,
} as const;
