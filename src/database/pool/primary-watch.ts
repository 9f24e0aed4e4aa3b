import { findPrimary, type Primary } from './find-primary.ts';

/** A connection to the server that accepted writes when it was opened. */
export interface WatchedConnection {
  /** Connection string with the addresses of all servers. */
  url: string;
  primary: Primary;
  /** Whether the server owes a response. */
  isWaiting(): boolean;
  countReceivedBytes(): number;
  drop(): void;
}

/** Pause between two looks at the connections. */
const INTERVAL_MS = 250;

/** Milliseconds without a byte of a response after which a server may have been replaced. */
const SILENT_MS = 1_000;

/** Open connections, with the bytes that each has received and since when it has received no more. */
const connections = new Map<WatchedConnection, { bytes: number; since: number }>();
let timer: NodeJS.Timeout | undefined;

/**
 * Searches the primary again while the server of the connection is silent, because one that hangs, or that a broken network separates,
 * never ends its connections. Returns a function that ends the watch.
 */
export function watchConnection(connection: WatchedConnection): () => void {
  connections.set(connection, { bytes: 0, since: performance.now() });
  timer ??= setInterval(checkConnections, INTERVAL_MS).unref();
  return () => {
    connections.delete(connection);
    if (connections.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Drops the connections to servers of a lower timeline than the primary's, idle ones included: it was promoted in their place. */
export function dropReplaced(url: string, { timeline }: Primary): void {
  for (const connection of connections.keys()) {
    if (connection.url === url && connection.primary.timeline < timeline) connection.drop();
  }
}

function checkConnections(): void {
  const now = performance.now();
  const silent = new Set<string>();
  for (const [connection, received] of connections) {
    const bytes = connection.countReceivedBytes();
    if (!connection.isWaiting() || bytes !== received.bytes) Object.assign(received, { bytes, since: now });
    else if (now - received.since > SILENT_MS) silent.add(connection.url);
  }
  for (const url of silent) {
    findPrimary(url).then(
      (primary) => dropReplaced(url, primary),
      // None was promoted yet.
      () => undefined,
    );
  }
}
