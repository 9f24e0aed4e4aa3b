import pg from 'pg';
import {
  type BoundStatement,
  type GroupMember,
  queryGroup,
  type Row,
  runInNextImmediate,
} from '../../node-internals/pg-pipeline.ts';
import type { DurationCounts } from '../../shared/duration-counts.ts';
import { tracing } from '../../shared/tracing.ts';
import { isLostConnection } from '../errors.ts';
import { toPoolConfig, WRITER_SETTINGS } from '../pool/session-settings.ts';
import { CLIENT_CONFIG, QUERY_MARGIN_MS } from '../pool/timeouts.ts';
import { waitForRetry } from './retry.ts';

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
    // The pool replaces an idle connection that is lost.
    this.pool.on('error', () => undefined);
  }

  /**
   * Runs the work in a READ COMMITTED transaction, and again in a new one when a concurrent transaction prevented it. Rolls back
   * unless the work has committed.
   */
  async run<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    for (let count = 1; ; count++) {
      try {
        return await this.#attempt(work);
      } catch (error) {
        await waitForRetry(error, count);
      }
    }
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

/** Statements of the transaction itself. Nothing awaits them, because a group has one result. */
const [BEGIN, COMMIT] = ['begin', 'commit'].map((text): GroupMember => {
  return { bound: [{ name: text, text }, []], resolve: () => undefined, reject: () => undefined };
}) as [GroupMember, GroupMember];

/** One transaction, created by `TransactionRunner`. */
export class Transaction {
  readonly #client: pg.PoolClient;
  readonly #counts: DurationCounts | null;
  /** Statements of this tick, which are sent together when it ends. */
  #unsent: GroupMember[] = [];
  /** Settled with the result of the group that is sent next, if that commits. */
  #commit: PromiseWithResolvers<void> | null = null;
  #lastGroup: Promise<unknown> = Promise.resolve();
  /** Whether a transaction block was begun and is not known to be committed. */
  #isOpen = false;
  #isReusable = true;
  /** The first error of a group: PostgreSQL ends the transaction with a rollback, also where its commit is sent afterwards. */
  #error: Error | null = null;
  /** Driver timeout in milliseconds that replaces the pool's. */
  #timeout: number | undefined;

  constructor(client: pg.PoolClient, counts: DurationCounts | null = null) {
    this.#client = client;
    this.#counts = counts;
  }

  /** Runs a statement. Those of the same tick share a round trip; when one fails, those sent with it have its error. */
  query(bound: BoundStatement): Promise<Row[]> {
    if (!tracing) return this.#query(bound);
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': bound[0].name };
    return tracing.run(bound[0].name, attributes, () => this.#query(bound));
  }

  async #query(bound: BoundStatement): Promise<Row[]> {
    const began = performance.now();
    let outcome = 'error';
    try {
      const rows = await new Promise<Row[]>((resolve, reject) => {
        if (this.#unsent.push({ bound, resolve, reject }) === 1) runInNextImmediate(() => this.#sendUnsent());
      });
      outcome = 'ok';
      return rows;
    } finally {
      this.#counts?.add(bound[0].name, outcome, (performance.now() - began) / 1000);
    }
  }

  /** Sets the time limit of the following statements, for large values that PostgreSQL parses slowly. */
  async extendTimeout(milliseconds: number): Promise<void> {
    this.#timeout = milliseconds + QUERY_MARGIN_MS;
    await this.query([{ name: '', text: `set local statement_timeout = ${milliseconds}` }, []]);
  }

  /** Runs the last statements and commits, in one round trip. The transaction is durable when the promise resolves. */
  async commit(...last: BoundStatement[]): Promise<Row[][]> {
    const results: Promise<Row[]>[] = [];
    for (const bound of last) results.push(this.query(bound));
    this.#commit = Promise.withResolvers();
    if (this.#unsent.length === 0) runInNextImmediate(() => this.#sendUnsent());
    const [rows] = await Promise.all([Promise.all(results), this.#commit.promise]);
    return rows;
  }

  #sendUnsent(): void {
    if (this.#unsent.length === 0 && !this.#commit) return;
    this.#lastGroup = this.#sendGroup(this.#unsent, this.#commit);
    this.#unsent = [];
    this.#commit = null;
  }

  /** Sends the statements of a tick. Those that are sent together with the commit are a transaction without `begin` and `commit`. */
  async #sendGroup(members: GroupMember[], commit: PromiseWithResolvers<void> | null): Promise<void> {
    if (commit && this.#isOpen) members.push(COMMIT);
    if (!commit && !this.#isOpen) {
      members.unshift(BEGIN);
      this.#isOpen = true;
    }
    const { error, isReusable } = await queryGroup(this.#client, members, this.#timeout);
    // A lost connection may be found by the statement before its socket closes: the pool would lend it again.
    this.#isReusable &&= isReusable && !(error && isLostConnection(error));
    this.#error ??= error;
    if (commit && !error) this.#isOpen = false;
    if (this.#error) commit?.reject(this.#error);
    else commit?.resolve();
  }

  /** Rolls back unless committed. Call it once. Rejects when the connection is unusable. */
  async end(): Promise<void> {
    // What the work has not awaited.
    this.#sendUnsent();
    await this.#lastGroup;
    if (!this.#isReusable) throw this.#error!;
    if (this.#isOpen) await this.#client.query('rollback');
  }
}
