import pg from 'pg';
import { corkUntilEndOfTick, type Statement } from '../pool/pg-pipeline.ts';
import { toPoolConfig, WRITER_SETTINGS } from '../pool/session-settings.ts';
import { CLIENT_CONFIG, QUERY_MARGIN_MS } from '../pool/timeouts.ts';
import { retryTransaction } from './retry.ts';

/** A statement with the values of its parameters. */
export type BoundStatement = readonly [statement: Statement, values: readonly unknown[]];

/** A row by the names of its columns, as the driver reads their types. */
export type Row = Record<string, unknown>;

/**
 * Short write transactions of prepared statements, each on a connection of its own. What the work sends without waiting
 * for the answer before it travels in one round trip.
 */
export class TransactionRunner {
  readonly #pool: pg.Pool;

  constructor(url: string, connections = 12) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: connections,
      ...toPoolConfig(WRITER_SETTINGS),
      ...CLIENT_CONFIG,
    });
    // Whoever uses a connection hears of its loss from the statement; one that nobody uses is replaced.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /**
   * Runs the work in a transaction, READ COMMITTED, and again in a new one when another stands in its way. What the work has not
   * committed when it ends is rolled back.
   */
  run<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return retryTransaction(() => this.#attempt(work));
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #attempt<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    const transaction = new Transaction(client);
    try {
      return await work(transaction);
    } finally {
      // Nobody waits for the end of a transaction that has nothing to keep.
      transaction.end().then(
        () => client.release(),
        (error) => client.release(error),
      );
    }
  }
}

/** One transaction. Made by `TransactionRunner`. */
export class Transaction {
  readonly #client: pg.PoolClient;
  readonly #begun: Promise<unknown>;
  #committed: Promise<unknown> | null = null;
  /** Milliseconds for each answer, where the pool's limit is too short. */
  #timeout: { query_timeout: number } | undefined;

  constructor(client: pg.PoolClient) {
    this.#client = client;
    corkUntilEndOfTick(client);
    this.#begun = client.query('begin');
    this.#begun.catch(() => undefined);
  }

  async query([{ name, text }, values]: BoundStatement): Promise<Row[]> {
    corkUntilEndOfTick(this.#client);
    return (await this.#client.query({ name, text, values: values as unknown[], ...this.#timeout })).rows;
  }

  /** Gives the statements that follow more time than usual, for a large value that PostgreSQL has to parse. */
  async extendTimeout(milliseconds: number): Promise<void> {
    corkUntilEndOfTick(this.#client);
    this.#timeout = { query_timeout: milliseconds + QUERY_MARGIN_MS };
    await this.#client.query(`set local statement_timeout = ${milliseconds}`);
  }

  /** The last statements and the commit, in one round trip. When it answers, the transaction is durable. */
  async commit(...last: BoundStatement[]): Promise<Row[][]> {
    const answers = last.map((bound) => this.query(bound));
    this.#committed = this.#client.query({ text: 'commit', ...this.#timeout } as pg.QueryConfig);
    this.#committed.catch(() => undefined);
    const rows = await Promise.all(answers);
    await this.#committed;
    return rows;
  }

  /** To be called once, when the work is over. Rejects when the connection is of no more use. */
  async end(): Promise<void> {
    await this.#begun;
    await (this.#committed ?? this.#client.query('rollback'));
  }
}
