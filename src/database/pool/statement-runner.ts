import { runAtEndOfTick, type Statement, type TextRow } from '../../node-internals/pg-pipeline.ts';
import type { DurationCounts } from '../../shared/duration-counts.ts';
import { type TraceContext, tracing } from '../../shared/tracing.ts';
import { getErrorCode, isLostConnection } from '../errors.ts';
import { type Batch, type BatchQuery, countResults, MAX_KEYS, MAX_QUERIES, toArrayParameters } from './batch.ts';
import { PipelinedConnection } from './pipelined-connection.ts';

/** SQLSTATE of a statement that was pipelined behind another of its name whose preparation failed. A retry prepares it. */
const INVALID_SQL_STATEMENT_NAME = '26000';

/** SQLSTATE class of errors that a value causes. */
const DATA_EXCEPTION = '22';

/** Numbers of connections; each opens when it is first used. */
interface RunnerConnections {
  regular: number;
  /** Used only while the regular ones are stalled. */
  reserve: number;
}

/** Name of statements that are planned for each use, in metrics. */
const UNPREPARED = 'unprepared';

/** Milliseconds after which a statement that lost its connection is no longer sent again. */
const RETRY_WINDOW_MS = 3_000;

/**
 * Maximum prepared statements for selections. PostgreSQL keeps each on every connection that has run it, in some 200 KiB. Further
 * statements have no name and are planned for each use.
 */
export const MAX_PREPARED_SELECTIONS = 250;

/**
 * Runs prepared statements on a few shared connections that carry many statements at once (pipelining). Single statements only: a
 * transaction on a shared connection would include the statements of other requests.
 */
export class StatementRunner {
  readonly #regularCount: number;
  readonly #connections: PipelinedConnection[];
  readonly #listeners = new Set<(statement: Statement) => void>();
  readonly #batches = new Map<Statement, Batch>();
  readonly #reservedNames = new Set<string>();
  readonly #counts: DurationCounts | null;
  #next = 0;
  #onReserve = 0;

  /** @param counts Receives the duration of each statement, by its name. */
  constructor(
    url: string,
    { regular, reserve }: RunnerConnections = { regular: 2, reserve: 4 },
    counts: DurationCounts | null = null,
  ) {
    this.#regularCount = regular;
    this.#counts = counts;
    this.#connections = Array.from({ length: regular + reserve }, () => new PipelinedConnection(url));
  }

  /**
   * Runs a statement and returns its rows, in a span of the current trace.
   *
   * @param traces Traces of the queries of a batch.
   */
  run(statement: Statement, values: unknown[], traces?: readonly TraceContext[]): Promise<TextRow[]> {
    if (!tracing) return this.#run(statement, values);
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': statement.name || UNPREPARED };
    return tracing.run(statement.name || UNPREPARED, attributes, () => this.#run(statement, values), traces);
  }

  /** Sends it again when its connection is lost, until one attempt used a new connection. */
  async #run(statement: Statement, values: unknown[]): Promise<TextRow[]> {
    for (const listener of this.#listeners) listener(statement);
    const began = performance.now();
    for (let attempt = 0; ; attempt++) {
      try {
        const rows = await this.#selectConnection().query(statement, values);
        this.#count(statement, 'ok', began);
        return rows;
      } catch (error) {
        const isLate = performance.now() - began > RETRY_WINDOW_MS;
        const isRetryable = isLostConnection(error) || getErrorCode(error) === INVALID_SQL_STATEMENT_NAME;
        if (isRetryable && attempt < this.#regularCount && !isLate) continue;
        this.#count(statement, 'error', began);
        throw error;
      }
    }
  }

  /**
   * Returns the rows for each key of the query, or one list of rows for a query without keys. Queries of the same statement that are
   * issued in one tick of the event loop are sent as one.
   *
   * @param statement takes an array for each value; its rows begin with the number, from 1, of the array element that they belong to.
   */
  executeBatched(statement: Statement, query: BatchQuery): Promise<TextRow[][]> {
    const keys = countResults(query);
    const open = this.#batches.get(statement);
    const hasRoom = open && open.pending.length < MAX_QUERIES && open.keys + keys <= MAX_KEYS;
    const batch = hasRoom ? open : this.#createBatch(statement);
    batch.keys += keys;
    return new Promise((resolve, reject) => batch.pending.push({ query, resolve, reject, trace: tracing?.current() }));
  }

  /** Does the same as `executeBatched`, but alone, for a query that may take long and should not delay others. */
  execute(statement: Statement, query: BatchQuery): Promise<TextRow[][]> {
    return this.#executeAll(statement, [{ query }]);
  }

  async #executeAll(
    statement: Statement,
    pending: readonly { query: BatchQuery }[],
    traces?: readonly TraceContext[],
  ): Promise<TextRow[][]> {
    const rows = await this.run(statement, toArrayParameters(pending), traces);
    const results: TextRow[][] = [];
    for (const { query } of pending) for (let count = countResults(query); count > 0; count--) results.push([]);
    for (const row of rows) results[Number(row[0]) - 1]!.push(row);
    return results;
  }

  #createBatch(statement: Statement): Batch {
    const batch: Batch = { pending: [], keys: 0 };
    this.#batches.set(statement, batch);
    runAtEndOfTick(() => {
      if (this.#batches.get(statement) === batch) this.#batches.delete(statement);
      void this.#send(statement, batch);
    });
    return batch;
  }

  async #send(statement: Statement, { pending }: Batch): Promise<void> {
    try {
      const results = await this.#executeAll(
        statement,
        pending,
        tracing ? pending.flatMap(({ trace }) => trace ?? []) : undefined,
      );
      for (const { query, resolve } of pending) resolve(results.splice(0, countResults(query)));
    } catch (error) {
      // An invalid value fails its own query only, so each query is sent again by itself. Other errors would recur.
      const isValueError = pending.length > 1 && getErrorCode(error)?.startsWith(DATA_EXCEPTION);
      for (const { query, resolve, reject } of pending) {
        if (isValueError) this.execute(statement, query).then(resolve, reject);
        else reject(error);
      }
    }
  }

  /** Reserves the name of a prepared statement for a selection. Returns false when no more are left. */
  tryReserveName(name: string): boolean {
    if (this.#reservedNames.has(name)) return true;
    if (this.#reservedNames.size === MAX_PREPARED_SELECTIONS) return false;
    this.#reservedNames.add(name);
    return true;
  }

  /** Calls the listener with every statement that is sent, so that tests can count them. Returns a function that removes it. */
  onStatement(listener: (statement: Statement) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the state of the connections, for metrics. `onReserve` is the number of statements that found all regular ones stalled. */
  stats(): { open: number; stalled: number; inFlight: number; onReserve: number } {
    const now = performance.now();
    const count = (matches: (connection: PipelinedConnection) => boolean) => this.#connections.filter(matches).length;
    return {
      open: count(({ isOpen }) => isOpen),
      stalled: count((connection) => connection.isStalled(now)),
      inFlight: this.#connections.reduce((sum, { inFlight }) => sum + inFlight, 0),
      onReserve: this.#onReserve,
    };
  }

  #count({ name }: Statement, outcome: 'ok' | 'error', began: number): void {
    this.#counts?.add(name || UNPREPARED, outcome, (performance.now() - began) / 1000);
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  /** Returns the next regular connection that is not stalled, else one of the reserve. */
  #selectConnection(): PipelinedConnection {
    this.#next = (this.#next + 1) % this.#regularCount;
    const now = performance.now();
    for (let step = 0; step < this.#regularCount; step++) {
      const connection = this.#connections[(this.#next + step) % this.#regularCount]!;
      if (!connection.isStalled(now)) return connection;
    }
    this.#onReserve++;
    const reserve = this.#connections.slice(this.#regularCount);
    return reserve.find((connection) => !connection.isStalled(now)) ?? this.#connections[this.#next]!;
  }
}
