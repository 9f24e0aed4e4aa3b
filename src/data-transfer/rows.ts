import { isUtf8 } from 'node:buffer';
import { MAX_FIELD_ERRORS } from '../shared/errors.ts';
import { type LineHandler, MAX_LINE_BYTES } from './lines.ts';
import type { Column, Plan } from './plan.ts';
import { isObject } from './shapes.ts';

/** Why a row cannot be imported. */
export interface Problem {
  file: string;
  /** Counted from 1. */
  line: number;
  /** Path into the row as the file writes it; null for the row as a whole. */
  field: string | null;
  message: string;
}

const NULL = '\\N';
/** What the staging table's COPY is told to read as the column's default. */
export const DEFAULT = '\\D';
/** An entry of an index may have some 2,700 bytes in all. */
const MAX_INDEXED_BYTES = 1000;

/**
 * Reads the rows of one file: checks what one row alone shows, and writes it in the text form of COPY for the staging
 * table. A bad row is staged too, with what is right in it, so that the checks in the database see the rest of it.
 */
export class RowReader implements LineHandler {
  /** Lines that hold something. */
  rows = 0;
  bad = 0;
  /** COPY text that waits to be sent, and problems that wait to be told; the owner takes them away. */
  text = '';
  problems: Problem[] = [];
  readonly #plan: Plan;
  readonly #fields: Set<string>;
  readonly #bounded: Set<Column>;
  #line = 0;
  #refused = 0;

  /** @param indexed columns that stand in an index, by their quoted names. */
  constructor(plan: Plan, indexed: Set<string>) {
    this.#plan = plan;
    this.#fields = new Set([...plan.columns.map(({ field }) => field), ...plan.derived]);
    this.#bounded = new Set(plan.columns.filter(({ name, type }) => indexed.has(name) && type.sql === 'text'));
  }

  line(bytes: Buffer, number: number): void {
    const text = bytes.toString();
    if (!/\S/.test(text)) return;
    this.#begin(number);
    const row = this.#parse(bytes, text);
    if (row) this.#stage(row);
  }

  overlong(number: number): void {
    this.#begin(number);
    this.#discard(`is longer than ${MAX_LINE_BYTES} bytes`);
  }

  /** Gives what waits to be sent, and forgets it. */
  take(): Buffer {
    const taken = Buffer.from(this.text);
    this.text = '';
    return taken;
  }

  #begin(number: number): void {
    this.rows++;
    this.#line = number;
    this.#refused = 0;
  }

  #parse(bytes: Buffer, text: string): Record<string, unknown> | null {
    if (!isUtf8(bytes)) return this.#discard('is not UTF-8');
    try {
      const row: unknown = JSON.parse(text);
      return isObject(row) ? row : this.#discard('must be a JSON object');
    } catch (error) {
      return this.#discard(`is not JSON: ${(error as Error).message}`);
    }
  }

  /** A line of which nothing can be staged. */
  #discard(message: string): null {
    this.bad++;
    this.#refuse(null, message);
    return null;
  }

  readonly #refuse = (field: string | null, message: string): void => {
    if (++this.#refused > MAX_FIELD_ERRORS) return;
    this.problems.push({ file: this.#plan.file, line: this.#line, field: field?.slice(0, 200) ?? null, message });
  };

  #stage(row: Record<string, unknown>): void {
    let cells = '';
    for (const column of this.#plan.columns) cells += `\t${this.#cell(column, row[column.field])}`;
    for (const field of Object.keys(row)) {
      if (this.#fields.has(field)) continue;
      this.#refuse(
        field,
        this.#plan.withheld.has(field) ? 'is never imported' : `is not a field of ${this.#plan.file}`,
      );
    }
    if (this.#refused === 0)
      for (const { fieldName, message } of this.#plan.inspect?.(row) ?? []) this.#refuse(fieldName, message);
    if (this.#refused > 0) this.bad++;
    this.text += `${this.#line}\t${this.#refused === 0 ? 't' : 'f'}${cells}\n`;
  }

  #cell(column: Column, value: unknown): string {
    if (value == null) {
      if (column.nullable) return NULL;
      if (value === undefined && column.default !== null) return DEFAULT;
      this.#refuse(column.field, value === undefined ? 'is required' : 'must not be null');
      return NULL;
    }
    const before = this.#refused;
    const read = column.shape.read(value, column.field, this.#refuse);
    if (this.#bounded.has(column) && Buffer.byteLength(String(read)) > MAX_INDEXED_BYTES) {
      this.#refuse(column.field, `must not be longer than ${MAX_INDEXED_BYTES} bytes`);
    }
    return this.#refused === before ? column.type.encode(read as never) : NULL;
  }
}
