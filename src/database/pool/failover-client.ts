import pg from 'pg';
import { requiresPrimary, splitAddresses } from '../../shared/postgres-url.ts';
import { isReadOnlyError } from '../errors.ts';
import { findPrimary, invalidatePrimary, watchPrimary } from './find-primary.ts';

/** Parts of pg's client that its type definitions omit. pg's version is pinned; test/database/failover.test.ts covers their use here. */
interface Internals {
  host: string;
  port: number;
  connection: NodeJS.EventEmitter & { stream: { destroy(error: Error): void } };
}

/** Milliseconds without a packet after which a host is probed. One that is down loses its connections some ten seconds later. */
const KEEP_ALIVE_MS = 10_000;

type ConnectCallback = (error: Error | null) => void;

/** Parameters by which a server reports that a session accepts no writes, at its start and when it changes. */
const READ_ONLY_PARAMETERS = new Set(['in_hot_standby', 'default_transaction_read_only']);

/**
 * A client of pg whose connection string may name several servers: it connects to the one that accepts writes. It drops its connection
 * when the server turns out to be read-only, and when a server of a higher timeline was promoted, so that the next connection leads there.
 * With one address, and without `target_session_attrs=read-write`, it is the client of pg.
 */
export class FailoverClient extends pg.Client {
  /** The connection string where the server must accept writes; else null. */
  readonly #url: string | null;

  constructor(config: pg.ClientConfig & { connectionString: string }) {
    const { connectionString } = config;
    super({
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      ...config,
      connectionString: splitAddresses(connectionString)[0],
    });
    // The current or next statement reports a lost connection. pg's pool listens only after `connect`, and the server's last message may be
    // in the packet that completes it: without a listener it would end the process.
    this.on('error', () => undefined);
    this.#url = requiresPrimary(connectionString) ? connectionString : null;
  }

  override connect(): Promise<this>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<this> | undefined {
    const url = this.#url;
    const connecting: Promise<unknown> = url === null ? super.connect() : this.#connectToPrimary(url);
    if (!callback) return connecting.then(() => this);
    connecting.then(() => callback(null), callback);
    return undefined;
  }

  async #connectToPrimary(url: string): Promise<void> {
    const server = await findPrimary(url);
    const primary = new pg.Client({ connectionString: server.url });
    const internals = this as unknown as Internals;
    internals.host = primary.host;
    internals.port = primary.port;
    this.#dropWhenReadOnly(url, internals.connection);
    const promoted = new Error('Connection terminated: another server was promoted.');
    const drop = () => internals.connection.stream.destroy(promoted);
    const unwatch = watchPrimary(url, { timeline: server.timeline, drop });
    internals.connection.once('end', unwatch);
    try {
      await super.connect();
    } catch (error) {
      unwatch();
      invalidatePrimary(url);
      throw error;
    }
  }

  #dropWhenReadOnly(url: string, connection: Internals['connection']): void {
    const drop = () => {
      invalidatePrimary(url);
      connection.stream.destroy(new Error('Connection terminated: the server accepts no writes.'));
    };
    connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) => {
      if (READ_ONLY_PARAMETERS.has(parameterName!) && parameterValue === 'on') drop();
    });
    // Later, so that the statement receives its own error.
    connection.on('errorMessage', (error: unknown) => {
      if (isReadOnlyError(error)) setImmediate(drop);
    });
    connection.once('end', () => invalidatePrimary(url));
  }
}
