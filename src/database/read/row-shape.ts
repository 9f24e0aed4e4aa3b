import type { EntityMetadata, EntityProperty } from '@mikro-orm/core';
import { parse as parseArray } from 'postgres-array';
import { isoFromPostgres, snakeCase } from '../../../entities/columns.ts';
import type { TextRow } from '../pool/pg-pipeline.ts';

/**
 * A column beyond the entity's own: SQL over the row `t` and the joins, and how its text becomes a value. The SQL may depend
 * on which filters are given, and use their values.
 */
export interface ComputedColumn {
  sql: string | ((given: readonly string[]) => string);
  as: Conversion;
}

type Conversion = (text: string) => unknown;

/** Nested object of some text columns of a joined table: `{ from: 'project', fields: ['id', 'name'] }`. */
interface Embedded {
  from: string;
  fields: string[];
}

/** What a reader declares beside the entity's own columns. */
export interface Columns {
  columns?: Record<string, ComputedColumn | Embedded>;
  /** Columns of the entity that are left out. */
  without?: string[];
  /** What is read of the records: `identifier`, `project.name`. Default: all. */
  only?: ReadonlySet<string>;
  /** Columns of the entity that may hold megabytes: they are read on connections of their own where they are large. */
  large?: string[];
  /** Columns of the entity that are left as the text that PostgreSQL sends. */
  asText?: string[];
}

/** Bytes from which a value is large. */
const LARGE_BYTES = 16 * 1024;

/** Bytes of JSON for each byte that PostgreSQL stores, unless the column is never compressed. */
const JSON_EXPANSION = 8;

export const asText: Conversion = (text) => text;
export const asJson: Conversion = (text) => JSON.parse(text);

/** The columns that a reader selects, and how a row of text becomes an object with the entity's prototype. */
export class RowShape {
  readonly table: string;
  readonly idType: 'text' | 'int';
  /** Place among the columns of one that every record has. */
  readonly certain: number;
  readonly make: (row: TextRow, start: number) => object;
  /** Properties that are read, in the order of their columns. */
  readonly read: readonly string[];
  /**
   * Whether large values are left out of the rows. The last column of a row then holds their size in bytes, or null where there are
   * none.
   */
  readonly isGuarded: boolean;
  /** Place of the id among the columns of a guarded row. */
  readonly idIndex: number;
  readonly #metadata: EntityMetadata;
  readonly #only: ReadonlySet<string> | null;
  readonly #sql: ComputedColumn['sql'][] = [];
  /** Statements that give a record its properties. */
  readonly #properties: string[] = [];
  readonly #conversions: Conversion[] = [];
  #guard = '';

  /** @param guarded whether large values are left out. */
  constructor(
    metadata: EntityMetadata,
    { columns = {}, without = [], only, large = [], asText: unconverted = [] }: Columns,
    guarded = true,
  ) {
    this.table = `"${metadata.tableName}"`;
    this.#metadata = metadata;
    const own = metadata.props.filter(({ name, persist }) => {
      return persist !== false && !(name in columns) && !without.includes(name);
    });
    const names = [...own.map(({ name }) => name), ...Object.keys(columns)];
    // What is no column, such as an accessor of the entity, may be made of any of them.
    this.#only = only && [...only].every((path) => names.includes(nameOf(path))) ? only : null;
    const owner = names.includes('builderId') ? 'builderId' : 'id';
    const wanted = new Set(this.#only ? [owner, ...[...this.#only].map(nameOf)] : names);
    const hasLarge = large.some((name) => wanted.has(name));
    if (hasLarge) wanted.add('id');
    this.read = names.filter((name) => wanted.has(name));
    this.isGuarded = guarded && hasLarge;
    const sizes: string[] = [];
    for (const { name, fieldNames, columnTypes } of own) {
      if (!wanted.has(name)) continue;
      const column = `t."${fieldNames[0]}"`;
      const convert = unconverted.includes(name) ? asText : conversionOf(columnTypes[0]!);
      if (this.isGuarded && large.includes(name)) {
        const size = sizeOf(column, columnTypes[0]!);
        sizes.push(`coalesce(${size}, 0)`);
        this.#column(name, `case when ${size} <= ${LARGE_BYTES} then ${column} end`, convert);
      } else this.#column(name, column, convert);
    }
    this.idIndex = this.#sql.indexOf('t."id"');
    for (const [name, column] of Object.entries(columns)) {
      if (!wanted.has(name)) continue;
      if ('sql' in column) this.#column(name, column.sql, column.as);
      else this.#embedded(name, column);
    }
    this.certain = this.#sql.indexOf(`t."${metadata.properties[owner]!.fieldNames[0]}"`);
    if (this.isGuarded) {
      this.#guard = `, case when greatest(${sizes.join()}) > ${LARGE_BYTES} then ${sizes.join(' + ')} end`;
    }
    this.idType = conversionOf(metadata.properties.id!.columnTypes[0]!) === Number ? 'int' : 'text';
    const prototype = metadata.class.prototype as object;
    const unread = names.filter((name) => !wanted.has(name));
    this.make = this.#maker(
      Object.create(prototype, { ...described(this.read, WRITABLE), ...described(unread, REFUSING) }),
    );
  }

  select(given: readonly string[]): string {
    return this.#sql.map((sql) => (typeof sql === 'string' ? sql : sql(given))).join(', ') + this.#guard;
  }

  /** A constructor, which is ten times as fast as an object literal with a prototype. */
  #maker(prototype: object): (row: TextRow, start: number) => object {
    const source = `function Row(row, start) { ${this.#properties.join('; ')} }
      Row.prototype = prototype;
      return (row, start) => new Row(row, start);`;
    const names = this.#conversions.map((_, at) => `convert${at}`);
    return new Function('prototype', ...names, source)(prototype, ...this.#conversions);
  }

  #column(name: string, sql: ComputedColumn['sql'], convert: Conversion): void {
    const text = `row[start + ${this.#sql.push(sql) - 1}]`;
    const at = this.#conversions.push(convert) - 1;
    const value = convert === asText ? text : `${text} === null ? null : convert${at}(${text})`;
    this.#properties.push(`this.${name} = ${value}`);
  }

  /** The first of its fields tells whether there is one, unless each record has one. */
  #embedded(name: string, { from, fields: [first, ...others] }: Embedded): void {
    const start = this.#sql.length;
    const reference: EntityProperty | undefined = this.#metadata.properties[`${name}Id`];
    const isCertain = reference !== undefined && !reference.nullable;
    const isRead = (field: string) => !this.#only || this.#only.has(name) || this.#only.has(`${name}.${field}`);
    const read = [...(isCertain && !isRead(first!) ? [] : [first!]), ...others.filter(isRead)];
    this.#sql.push(...read.map((field) => `${from}."${snakeCase(field)}"`));
    const properties = read.map((field, index) => `${field}: row[start + ${start + index}]`);
    const object = `{ ${properties.join(', ')} }`;
    this.#properties.push(`this.${name} = ${isCertain ? object : `row[start + ${start}] === null ? null : ${object}`}`);
  }
}

const nameOf = (path: string) => path.split('.', 1)[0]!;

/** MikroORM's accessors on an entity's prototype would make a managed entity of each row; these stand before them. */
const WRITABLE = () => ({ value: undefined, writable: true });

/** What was not read is an error, where it would otherwise be taken for absent. */
const REFUSING = (name: string) => ({
  get() {
    throw new Error(`${name} was not read: what asks for it does not say so (@Reads).`);
  },
});

const described = (names: readonly string[], describe: (name: string) => PropertyDescriptor): PropertyDescriptorMap =>
  Object.fromEntries(names.map((name) => [name, describe(name)]));

/** SQL of a value's size in bytes, which PostgreSQL knows without reading the value. */
function sizeOf(column: string, columnType: string): string {
  const expansion = columnType.includes('external') ? 1 : JSON_EXPANSION;
  if (columnType.startsWith('jsonb')) return `pg_column_size(${column}) * ${expansion}`;
  return `octet_length(${column})`;
}

/** How PostgreSQL's text of a column type becomes the entity's value. */
function conversionOf(columnType: string): Conversion {
  if (columnType.startsWith('timestamptz')) return isoFromPostgres;
  if (columnType.endsWith('[]')) return (text) => parseArray(text);
  if (columnType.startsWith('jsonb')) return asJson;
  if (columnType === 'boolean') return (text) => text === 't';
  if (/^(int|serial|smallint|double|numeric|real)/.test(columnType)) return Number;
  return asText;
}
