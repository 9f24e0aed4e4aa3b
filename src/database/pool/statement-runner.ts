import { runInNextImmediate, type Statement, type TextRow } from '../../node-internals/pg-pipeline.ts';
import type { DurationCounts } from '../../shared/duration-counts.ts';
import { type TraceContext, tracing } from '../../shared/tracing.ts';
import { getErrorCode, isLostConnection } from '../errors.ts';
import { PipelinedConnection } from './pipelined-connection.ts';

/** SQLSTATE of a statement that was pipelined behind another of its name whose preparation failed. A retry prepares it. */
const INVALID_SQL_STATEMENT_NAME = '26000';

/** SQLSTATE class of errors that a value causes. */
const DATA_EXCEPTION = '22';

/** Maximum queries per batch. Larger batches gain little, and delay all their queries until PostgreSQL has answered the last. */
const MAX_QUERIES = 8;

/** Maximum rows of parameters per batch, each of which may return a page; a single larger query runs alone. */
const MAX_ROWS = 64;

/** Values of a statement's parameters. */
type ParameterRow = readonly unknown[];

/** A statement for several rows of parameters: it takes an array for each parameter, and its rows begin with the number, from 1, of their element. */
export interface BatchStatement extends Statement {
  /** The same for one row of parameters, each of them alone. PostgreSQL takes 40 of 100 µs less for it. */
  single?: Statement;
}

/** A query of a batch, with the callbacks of its promise. */
interface PendingQuery {
  rows: readonly ParameterRow[];
  resolve(results: TextRow[][]): void;
  reject(error: unknown): void;
  /** Trace of the request that the query belongs to; absent without tracing. */
  trace: TraceContext | undefined;
}

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
  readonly #regular: readonly PipelinedConnection[];
  readonly #reserve: readonly PipelinedConnection[];
  readonly #listeners = new Set<(statement: Statement) => void>();
  readonly #batches = new Map<BatchStatement, PendingQuery[]>();
  readonly #reservedNames = new Set<string>();
  readonly #counts: DurationCounts | null;
  #reserveUses = 0;

  /** @param counts Receives the duration of each statement, by its name. */
  constructor(
    url: string,
    { regular, reserve }: RunnerConnections = { regular: 2, reserve: 4 },
    counts: DurationCounts | null = null,
  ) {
    this.#counts = counts;
    this.#regular = Array.from({ length: regular }, () => new PipelinedConnection(url));
    this.#reserve = Array.from({ length: reserve }, () => new PipelinedConnection(url));
  }

  /**
   * Runs a statement and returns its rows, in a span of the current trace.
   *
   * @param traces Traces of the queries of a batch.
   * @param form What is sent for the statement.
   */
  run(
    statement: Statement,
    values: ParameterRow,
    traces?: readonly TraceContext[],
    form = statement,
  ): Promise<TextRow[]> {
    if (!tracing) return this.#run(statement, values, form);
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': statement.name || UNPREPARED };
    return tracing.run(statement.name || UNPREPARED, attributes, () => this.#run(statement, values, form), traces);
  }

  /** Sends it again when its connection is lost, until one attempt used a new connection. */
  async #run(statement: Statement, values: ParameterRow, form: Statement): Promise<TextRow[]> {
    for (const listener of this.#listeners) listener(statement);
    const began = performance.now();
    let outcome: 'ok' | 'error' = 'ok';
    try {
      for (let attempt = 0; ; attempt++) {
        try {
          const connection = findLeastBusy(this.#regular, performance.now()) ?? this.#selectReserve();
          return await connection.query(form, values);
        } catch (error) {
          const isLate = performance.now() - began > RETRY_WINDOW_MS;
          const isRetryable = isLostConnection(error) || getErrorCode(error) === INVALID_SQL_STATEMENT_NAME;
          if (!isRetryable || attempt === this.#regular.length || isLate) throw error;
        }
      }
    } catch (error) {
      outcome = 'error';
      throw error;
    } finally {
      this.#counts?.add(statement.name || UNPREPARED, outcome, (performance.now() - began) / 1000);
    }
  }

  /**
   * Returns the result of the statement for each row of parameters. Queries of the same statement that are issued in one tick of the event
   * loop are sent as one.
   */
  executeBatched(statement: BatchStatement, rows: readonly ParameterRow[]): Promise<TextRow[][]> {
    const open = this.#batches.get(statement);
    const hasRoom = open && open.length < MAX_QUERIES && countRows(open) + rows.length <= MAX_ROWS;
    const batch = hasRoom ? open : [];
    if (!hasRoom) {
      this.#batches.set(statement, batch);
      runInNextImmediate(() => void this.#send(statement, batch));
    }
    return new Promise((resolve, reject) => batch.push({ rows, resolve, reject, trace: tracing?.current() }));
  }

  /** Does the same as `executeBatched`, but alone, for a query that may take long and should not delay others. */
  async executeRows(
    statement: BatchStatement,
    rows: readonly ParameterRow[],
    traces?: readonly TraceContext[],
  ): Promise<TextRow[][]> {
    if (rows.length === 1 && statement.single) return [await this.run(statement, rows[0]!, traces, statement.single)];
    const results: TextRow[][] = [];
    for (let index = 0; index < rows.length; index++) results.push([]);
    for (const row of await this.run(statement, toArrays(rows), traces)) results[Number(row[0]) - 1]!.push(row);
    return results;
  }

  async #send(statement: BatchStatement, batch: readonly PendingQuery[]): Promise<void> {
    if (this.#batches.get(statement) === batch) this.#batches.delete(statement);
    try {
      const traces = tracing ? batch.flatMap(({ trace }) => trace ?? []) : undefined;
      const rows = batch.length === 1 ? batch[0]!.rows : batch.flatMap((query) => query.rows);
      const results = await this.executeRows(statement, rows, traces);
      for (const query of batch) query.resolve(results.splice(0, query.rows.length));
    } catch (error) {
      // An invalid value fails its own query only, so each query is sent again by itself. Other errors would recur.
      const isValueError = batch.length > 1 && getErrorCode(error)?.startsWith(DATA_EXCEPTION);
      for (const { rows, resolve, reject } of batch) {
        if (isValueError) this.executeRows(statement, rows).then(resolve, reject);
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

  /** Returns the state of the connections, for metrics. `reserveUses` is the number of statements that found all regular ones stalled. */
  stats(): { open: number; stalled: number; inFlight: number; reserveUses: number } {
    const now = performance.now();
    const connections = [...this.#regular, ...this.#reserve];
    return {
      open: connections.filter(({ isOpen }) => isOpen).length,
      stalled: connections.filter((connection) => connection.isStalled(now)).length,
      inFlight: connections.reduce((sum, { inFlight }) => sum + inFlight, 0),
      reserveUses: this.#reserveUses,
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#regular, ...this.#reserve].map((connection) => connection.close()));
  }

  /** Returns a stalled regular connection when those of the reserve are stalled, too. */
  #selectReserve(): PipelinedConnection {
    this.#reserveUses++;
    return findLeastBusy(this.#reserve, performance.now()) ?? findLeastBusy(this.#regular)!;
  }
}

/**
 * Returns the connection with the least load that is not stalled. The first of equals, whose data PostgreSQL and the processor have at hand.
 *
 * @param now without it, a stalled one counts, too
 */
function findLeastBusy(connections: readonly PipelinedConnection[], now = 0): PipelinedConnection | undefined {
  let found: PipelinedConnection | undefined;
  for (const connection of connections) {
    if (!connection.isStalled(now) && !(found && found.load <= connection.load)) found = connection;
  }
  return found;
}

const countRows = (batch: readonly PendingQuery[]): number => batch.reduce((count, { rows }) => count + rows.length, 0);

const ESCAPED = /["\\]/g;

/** Returns for each parameter the array of its values, in PostgreSQL's notation: pg takes twice as long to write it. */
function toArrays(rows: readonly ParameterRow[]): string[] {
  const arrays: string[] = [];
  for (let index = 0; index < rows[0]!.length; index++) {
    const array: string[] = [];
    for (const row of rows) {
      const value = row[index];
      const text = Array.isArray(value) ? toListText(value) : String(value);
      array.push(value === null || value === undefined ? 'NULL' : `"${text.replace(ESCAPED, '\\$&')}"`);
    }
    arrays.push(`{${array.join()}}`);
  }
  return arrays;
}

/** Returns a nested list in array notation, as one element of text. */
const toListText = (list: readonly unknown[]): string =>
  `{${list.map((item) => `"${String(item).replace(ESCAPED, '\\$&')}"`).join()}}`;
