import { toArrayText } from '../database/array-text.ts';
import * as types from './field-types.ts';

/** Conversion of a column's values between JSON and PostgreSQL. */
export interface ColumnType {
  /** Type of the column in SQL. */
  sql: string;
  /** Validation that takes precedence over the type of the field in the API. */
  fieldType?: types.FieldType;
  /** Validation of a column that is not a field of the API. */
  fallback?: types.FieldType;
  /** Converts a validated value to the text format of COPY. */
  encode(value: never): string;
  /** Returns SQL of the column's JSON value for the export. */
  json(column: string): string;
}

const keepColumn = (column: string) => column;
const escapeCharacter = (character: string) => ESCAPES[character]!;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const SPECIAL = /[\\\n\r\t]/;
const toCopyText = (value: string) => (SPECIAL.test(value) ? value.replace(/[\\\n\r\t]/g, escapeCharacter) : value);

const TYPES: Record<string, Omit<ColumnType, 'sql' | 'json'> & Partial<ColumnType>> = {
  text: { fallback: types.text, encode: toCopyText },
  'text[]': {
    fallback: types.list(types.text),
    encode: (value: string[]) => toCopyText(toArrayText(value)),
  },
  boolean: { fieldType: types.boolean, encode: (value: boolean) => (value ? 't' : 'f') },
  int: { fieldType: types.integer, encode: String },
  'double precision': {
    fieldType: types.number,
    encode: (value: number) => (Object.is(value, -0) ? '-0' : String(value)),
  },
  'timestamptz(3)': {
    fieldType: types.timestamp,
    encode: String,
    json: (column) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  },
  jsonb: { encode: (value: unknown) => toCopyText(JSON.stringify(value)) },
};

/** Returns the conversion of a column's type as its entity declares it; undefined if it is not supported. */
export function findColumnType(declared: string): ColumnType | undefined {
  const sql = declared.replace(/ storage external$/, '');
  return TYPES[sql] && { sql, json: keepColumn, ...TYPES[sql] };
}
