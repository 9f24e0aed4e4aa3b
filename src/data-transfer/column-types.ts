import * as shapes from './shapes.ts';

/** How values of a column travel between JSON and PostgreSQL. */
export interface ColumnType {
  /** Type of the column in SQL. */
  sql: string;
  /** What the column's type alone demands, whatever the API says. */
  shape?: shapes.Shape;
  /** For a column that the API does not show. */
  fallback?: shapes.Shape;
  /** The value in the text form of COPY. */
  encode(value: never): string;
  /** SQL that gives the JSON value of a column for the export. */
  json(column: string): string;
}

const asIs = (column: string) => column;
const escaped = (character: string) => ESCAPES[character]!;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const SPECIAL = /[\\\n\r\t]/;
const copyText = (value: string) => (SPECIAL.test(value) ? value.replace(/[\\\n\r\t]/g, escaped) : value);

/** `["a","b\"c"]` to `{"a","b\"c"}`. */
const arrayLiteral = (items: string[]) => `{${items.map((item) => `"${item.replace(/[\\"]/g, '\\$&')}"`).join()}}`;

const text: ColumnType = { sql: 'text', fallback: shapes.text, encode: copyText, json: asIs };

const TYPES: [RegExp, ColumnType][] = [
  [/^(text|varchar|character varying)(\(\d+\))?$/, text],
  [
    /^text\[\]$/,
    {
      sql: 'text[]',
      fallback: shapes.list(shapes.text),
      encode: (value: string[]) => copyText(arrayLiteral(value)),
      json: asIs,
    },
  ],
  [/^boolean$/, { sql: 'boolean', shape: shapes.boolean, encode: (value: boolean) => (value ? 't' : 'f'), json: asIs }],
  [/^(int|integer|int4)$/, { sql: 'integer', shape: shapes.integer, encode: String, json: asIs }],
  [
    /^(double precision|float8)$/,
    {
      sql: 'double precision',
      shape: shapes.number,
      encode: (value: number) => (Object.is(value, -0) ? '-0' : String(value)),
      json: asIs,
    },
  ],
  [
    /^timestamptz\(3\)$/,
    {
      sql: 'timestamptz(3)',
      shape: shapes.timestamp,
      encode: String,
      json: (column) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    },
  ],
  [/^jsonb\b/, { sql: 'jsonb', encode: (value: unknown) => copyText(JSON.stringify(value)), json: asIs }],
];

/** Undefined for a type that nothing here knows. */
export function columnTypeOf(sql: string): ColumnType | undefined {
  return TYPES.find(([pattern]) => pattern.test(sql))?.[1];
}
