import pg from 'pg';
import { SESSION_OPTIONS } from './orm.ts';

/** SQL with bound parameters that PostgreSQL prepares once per connection, under the name. */
export interface Statement {
  name: string;
  text: string;
}

/** A row as the driver read it: the text of each column, in the order of the statement. */
export type TextRow = (string | null)[];

/** Values stay text: what they mean is known from the entity's columns, so nothing is parsed twice. */
const asText = { getTypeParser: () => (text: string) => text };

/** Errors after which a read may be sent again on another connection. SQLSTATE class 08 and the shutdown codes. */
const LOST_CONNECTION = new Set(['57P01', '57P02', '57P03', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE']);

/**
 * Runs prepared reads on a few connections that carry many statements at once (pipelining). Reads only: a transaction on
 * a shared connection would take in the statements of others.
 */
export class StatementRunner {
  readonly #url: string;
  readonly #clients: (Promise<pg.Client> | null)[];
  readonly #listeners = new Set<(statement: Statement) => void>();
  #next = 0;

  constructor(url: string, connections = 2) {
    this.#url = url;
    this.#clients = new Array(connections).fill(null);
  }

  async run(statement: Statement, values: unknown[]): Promise<TextRow[]> {
    for (const listener of this.#listeners) listener(statement);
    try {
      return await this.#send(statement, values);
    } catch (error) {
      if (!isLostConnection(error)) throw error;
      return await this.#send(statement, values);
    }
  }

  /** Hears of every statement that is sent, so that tests can count them. Returns a function that ends it. */
  onStatement(listener: (statement: Statement) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    const clients = this.#clients.splice(0);
    await Promise.all(clients.map((client) => client?.then((open) => open.end()).catch(() => undefined)));
  }

  async #send(statement: Statement, values: unknown[]): Promise<TextRow[]> {
    const client = await this.#client();
    const query = { name: statement.name, text: statement.text, values, rowMode: 'array' as const, types: asText };
    return (await client.query(query)).rows as TextRow[];
  }

  #client(): Promise<pg.Client> {
    this.#next = (this.#next + 1) % this.#clients.length;
    const slot = this.#next;
    this.#clients[slot] ??= this.#connect(slot);
    return this.#clients[slot];
  }

  async #connect(slot: number): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#url,
      options: SESSION_OPTIONS,
      statement_timeout: 10_000,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      // `pipeline` is newer than the type definitions.
      ...({ pipeline: true } as object),
    });
    const forget = () => {
      this.#clients[slot] = null;
    };
    client.on('error', forget);
    client.on('end', forget);
    try {
      await client.connect();
    } catch (error) {
      forget();
      throw error;
    }
    return client;
  }
}

export function isLostConnection(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return (
    (code !== undefined && (LOST_CONNECTION.has(code) || code.startsWith('08'))) ||
    /connection terminated|connection ended|not queryable|timeout expired|timeout exceeded when trying/i.test(
      message ?? '',
    )
  );
}
