/** Milliseconds after which PostgreSQL cancels a statement, including its wait for locks. */
export const STATEMENT_TIMEOUT_MS = 6_000;

/** Milliseconds that the driver waits for a response beyond the time limit of the statement. */
export const QUERY_MARGIN_MS = 1_000;

/** Milliseconds that a statement may wait for a lock. */
export const LOCK_TIMEOUT_MS = 4_000;

/** Milliseconds after which PostgreSQL ends an idle transaction, so that a hanging instance holds no locks. */
export const IDLE_TRANSACTION_TIMEOUT_MS = 10_000;

/** Milliseconds that opening a connection, or waiting for a free one of a pool, may take. */
export const CONNECT_TIMEOUT_MS = 4_000;

/**
 * Client configuration of the connections that serve requests. Together with the session settings (session-settings.ts), its timeouts
 * bound how long a request waits for the database. All connections are pipelined: after `query_timeout` the driver destroys the
 * connection and rejects all its statements.
 */
export const CLIENT_CONFIG = {
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  // A PostgreSQL that hangs cancels nothing, so the driver limits the wait for a response itself.
  query_timeout: STATEMENT_TIMEOUT_MS + QUERY_MARGIN_MS,
  // The type definitions do not have this option yet.
  pipeline: true,
} as const;
