import pg from 'pg';
import type { DurationCounts } from '../../shared/duration-counts.ts';
import { isTracing, traced } from '../../shared/tracing.ts';
import { corkUntilEndOfTick, type Statement } from '../pool/pg-pipeline.ts';
import { toPoolConfig, WRITER_SETTINGS } from '../pool/session-settings.ts';
import { CLIENT_CONFIG, QUERY_MARGIN_MS } from '../pool/timeouts.ts';
import { retryTransaction } from './retry.ts';

/** A prepared statement with the values of its parameters. */
export type BoundStatement = readonly [statement: Statement, values: readonly unknown[]];

/** A row by column name, with values as the driver parses them. */
type Row = Record<string, unknown>;

/**
 * Runs short write transactions of prepared statements, each on a connection of its own. Statements that are sent without awaiting
 * the one before share a round trip.
 */
export class TransactionRunner {
  readonly pool: pg.Pool;
  readonly #counts: DurationCounts | null;

  /** @param counts Receives the duration of each statement, by its name. */
  constructor(url: string, connections = 12, counts: DurationCounts | null = null) {
    this.#counts = counts;
    this.pool = new pg.Pool({
      connectionString: url,
      max: connections,
      ...toPoolConfig(WRITER_SETTINGS),
      ...CLIENT_CONFIG,
    });
    // A lost connection rejects its current statement; the pool replaces an idle one.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /**
   * Runs the work in a READ COMMITTED transaction, and again in a new one when a concurrent transaction prevented it. Rolls back
   * unless the work has committed.
   */
  run<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return retryTransaction(() => this.#attempt(work));
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  async #attempt<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    const transaction = new Transaction(client, this.#counts);
    try {
      return await work(transaction);
    } finally {
      // Not awaited: the result is already durable, or nothing is kept.
      transaction.end().then(
        () => client.release(),
        (error) => client.release(error),
      );
    }
  }
}

/** One transaction, created by `TransactionRunner`. */
export class Transaction {
  readonly #client: pg.PoolClient;
  readonly #counts: DurationCounts | null;
  readonly #begun: Promise<unknown>;
  #committed: Promise<unknown> | null = null;
  /** Driver timeout in milliseconds that replaces the pool's. */
  #timeout: { query_timeout: number } | undefined;

  constructor(client: pg.PoolClient, counts: DurationCounts | null = null) {
    this.#client = client;
    this.#counts = counts;
    corkUntilEndOfTick(client);
    this.#begun = client.query('begin');
    this.#begun.catch(() => undefined);
  }

  query(bound: BoundStatement): Promise<Row[]> {
    if (!isTracing()) return this.#query(bound);
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': bound[0].name };
    return traced(bound[0].name, attributes, () => this.#query(bound));
  }

  async #query([{ name, text }, values]: BoundStatement): Promise<Row[]> {
    corkUntilEndOfTick(this.#client);
    const began = performance.now();
    let outcome = 'error';
    try {
      const { rows } = await this.#client.query({ name, text, values: values as unknown[], ...this.#timeout });
      outcome = 'ok';
      return rows;
    } finally {
      this.#counts?.add(name, outcome, (performance.now() - began) / 1000);
    }
  }

  /** Sets the time limit of the following statements, for large values that PostgreSQL parses slowly. */
  async extendTimeout(milliseconds: number): Promise<void> {
    corkUntilEndOfTick(this.#client);
    this.#timeout = { query_timeout: milliseconds + QUERY_MARGIN_MS };
    await this.#client.query(`set local statement_timeout = ${milliseconds}`);
  }

  /** Runs the last statements and commits, in one round trip. The transaction is durable when the promise resolves. */
  async commit(...last: BoundStatement[]): Promise<Row[][]> {
    const results = last.map((bound) => this.query(bound));
    this.#committed = this.#client.query({ text: 'commit', ...this.#timeout } as pg.QueryConfig);
    this.#committed.catch(() => undefined);
    const rows = await Promise.all(results);
    await this.#committed;
    return rows;
  }

  /** Rolls back unless committed. Call it once. Rejects when the connection is unusable. */
  async end(): Promise<void> {
    await this.#begun;
    await (this.#committed ?? this.#client.query('rollback'));
  }
}
