import { isUtf8 } from 'node:buffer';
import { isObject } from '../../schema/is-object.ts';
import { parseExactJson } from '../../schema/json-problems.ts';
import { MAX_FIELD_ERRORS } from '../shared/errors.ts';
import type { Column, FileMapping } from './file-mapping.ts';
import { MAX_LINE_BYTES } from './read-lines.ts';

/** Why a row cannot be imported. */
export interface RowProblem {
  file: string;
  /** Counted from 1. */
  line: number;
  /** Path of the field in the row; null for the whole row. */
  field: string | null;
  message: string;
}

const NULL = '\\N';
/** Marker for the column's default in the staging table's COPY. */
export const DEFAULT = '\\D';
/** An index entry of PostgreSQL has at most about 2,700 bytes in total. */
const MAX_INDEXED_BYTES = 1000;

/**
 * Validates the rows of one file individually, and converts them to the text format of COPY for the staging table. An invalid row
 * is staged with its valid fields, so that the checks in the database cover those.
 */
export class RowReader {
  /** Lines that are not empty. */
  rows = 0;
  bad = 0;
  /** Pending COPY text and problems; the caller removes them. */
  text = '';
  problems: RowProblem[] = [];
  readonly #mapping: FileMapping;
  readonly #fields: Set<string>;
  readonly #bounded: Set<Column>;
  #line = 0;
  #rejected = 0;

  /** @param indexed Quoted names of columns in any index. */
  constructor(mapping: FileMapping, indexed: Set<string>) {
    this.#mapping = mapping;
    this.#fields = new Set([...mapping.columns.map(({ field }) => field), ...mapping.ignoredFields]);
    this.#bounded = new Set(mapping.columns.filter(({ name, type }) => indexed.has(name) && type.sql === 'text'));
  }

  /** @param bytes null for a line that is too long */
  line(bytes: Buffer | null, number: number): void {
    const text = bytes?.toString();
    if (text !== undefined && !/\S/.test(text)) return;
    this.rows++;
    this.#line = number;
    this.#rejected = 0;
    const row = bytes ? this.#parse(bytes, text!) : this.#discard(`is longer than ${MAX_LINE_BYTES} bytes`);
    if (row) this.#stage(row);
  }

  /** Returns the pending COPY text and clears it. */
  takeCopyText(): Buffer {
    const copyText = Buffer.from(this.text);
    this.text = '';
    return copyText;
  }

  #parse(bytes: Buffer, text: string): Record<string, unknown> | null {
    if (!isUtf8(bytes)) return this.#discard('is not UTF-8');
    try {
      const row = parseExactJson(text);
      return isObject(row) ? row : this.#discard('must be a JSON object');
    } catch {
      // Its message would quote the line.
      return this.#discard('is not JSON');
    }
  }

  /** Reports a line that cannot be staged at all. */
  #discard(message: string): null {
    this.bad++;
    this.#report(null, message);
    return null;
  }

  readonly #report = (field: string | null, message: string): void => {
    if (++this.#rejected > MAX_FIELD_ERRORS) return;
    this.problems.push({ file: this.#mapping.file, line: this.#line, field: field?.slice(0, 200) ?? null, message });
  };

  #stage(row: Record<string, unknown>): void {
    this.#mapping.normalizeRow?.(row);
    let cells = '';
    for (const column of this.#mapping.columns) cells += `\t${this.#cell(column, row[column.field])}`;
    for (const field of Object.keys(row)) {
      if (this.#fields.has(field)) continue;
      this.#report(
        field,
        this.#mapping.secretFields.has(field) ? 'is never imported' : `is not a field of ${this.#mapping.file}`,
      );
    }
    if (this.#rejected === 0)
      for (const { fieldName, message } of this.#mapping.validateRow?.(row) ?? []) this.#report(fieldName, message);
    if (this.#rejected > 0) this.bad++;
    this.text += `${this.#line}\t${this.#rejected === 0 ? 't' : 'f'}${cells}\n`;
  }

  #cell(column: Column, value: unknown): string {
    if (value == null) {
      if (column.nullable) return NULL;
      if (value === undefined && column.default !== null) return DEFAULT;
      this.#report(column.field, value === undefined ? 'is required' : 'must not be null');
      return NULL;
    }
    const before = this.#rejected;
    const read = column.fieldType.read(value, column.field, this.#report);
    if (this.#bounded.has(column) && typeof read === 'string' && Buffer.byteLength(read) > MAX_INDEXED_BYTES) {
      this.#report(column.field, `must not be longer than ${MAX_INDEXED_BYTES} bytes`);
    }
    return this.#rejected === before ? column.type.encode(read as never) : NULL;
  }
}
