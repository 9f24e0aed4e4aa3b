import { type TraceContext, tracing } from '../../shared/tracing.ts';
import type { TextRow } from './pg-pipeline.ts';

/** Maximum queries per batch. Larger batches gain little, and delay all their queries until PostgreSQL has answered the last. */
const MAX_QUERIES = 8;

/** Maximum keys per batch, each of which may return a page; a single larger request runs alone. */
const MAX_KEYS = 64;

/**
 * Values of a statement's parameters. With `keys`, the statement runs once per key, which replaces the value of its parameter.
 */
export interface BatchQuery {
  values: readonly unknown[];
  keys?: { parameterIndex: number; values: readonly string[] };
}

/** A query with the callbacks of its promise. */
interface PendingQuery {
  query: BatchQuery;
  resolve(rows: TextRow[][]): void;
  reject(error: unknown): void;
  /** Trace of the request that the query belongs to; absent without tracing. */
  trace: TraceContext | undefined;
}

/** Queries of one statement, issued in one tick of the event loop, that are sent as one. */
export class Batch {
  readonly pending: PendingQuery[] = [];
  #keys = 0;

  hasRoomFor(query: BatchQuery): boolean {
    return this.pending.length < MAX_QUERIES && this.#keys + countResults(query) <= MAX_KEYS;
  }

  add(query: BatchQuery): Promise<TextRow[][]> {
    this.#keys += countResults(query);
    return new Promise((resolve, reject) => this.pending.push({ query, resolve, reject, trace: tracing?.current() }));
  }
}

/** Returns the number of row lists that a query returns: one per key, else one. */
export const countResults = ({ keys }: BatchQuery): number => keys?.values.length ?? 1;

/** Returns the parameters of a batch statement: for each value of the queries an array of all its values, as PostgreSQL text. */
export const toArrayParameters = (queries: readonly BatchQuery[]): string[] =>
  queries[0]!.values.map((_, index) => toArrayParameter(queries, index));

function toArrayParameter(queries: readonly BatchQuery[], index: number): string {
  const elements = queries.map(({ values, keys }) => {
    if (keys?.parameterIndex === index) return keys.values.map(toArrayElement).join();
    const element = toArrayElement(values[index]);
    return keys ? `${element},`.repeat(keys.values.length).slice(0, -1) : element;
  });
  return `{${elements.join()}}`;
}

/** A nested list becomes a text element in array notation. */
function toArrayElement(value: unknown): string {
  if (value == null) return 'NULL';
  const text = Array.isArray(value) ? `{${value.map(toArrayElement).join()}}` : String(value);
  return /["\\]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}
