import type { TraceContext } from '../../shared/tracing.ts';
import type { TextRow } from './pg-pipeline.ts';

/** Maximum queries per batch. Larger batches gain little, and delay all their queries until PostgreSQL has answered the last. */
export const MAX_QUERIES = 8;

/** Maximum keys per batch, each of which may return a page; a single larger request runs alone. */
export const MAX_KEYS = 64;

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
export interface Batch {
  pending: PendingQuery[];
  keys: number;
}

/** Returns the number of row lists that a query returns: one per key, else one. */
export const countResults = ({ keys }: BatchQuery): number => keys?.values.length ?? 1;

/** Returns the parameters of a batch statement: for each value of the queries an array of all its values, as PostgreSQL text. */
export function toArrayParameters(pending: readonly { query: BatchQuery }[]): string[] {
  const parameters: string[] = [];
  for (let index = 0; index < pending[0]!.query.values.length; index++) {
    let elements = '';
    for (const { query } of pending) {
      const { values, keys } = query;
      if (keys?.parameterIndex === index) for (const key of keys.values) elements += `,${toArrayElement(key)}`;
      else elements += `,${toArrayElement(values[index])}`.repeat(keys?.values.length ?? 1);
    }
    parameters.push(`{${elements.slice(1)}}`);
  }
  return parameters;
}

/** A nested list becomes a text element in array notation. */
function toArrayElement(value: unknown): string {
  if (value == null) return 'NULL';
  const text = Array.isArray(value) ? `{${value.map(toArrayElement).join()}}` : String(value);
  return /["\\]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}
