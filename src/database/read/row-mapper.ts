import type { EntityMetadata, EntityProperty } from '@mikro-orm/core';
import { parse as parseArray } from 'postgres-array';
import { isoFromPostgres, toSnakeCase } from '../../../entities/columns.ts';
import type { TextRow } from '../pool/pg-pipeline.ts';

/** A column beyond the entity's own. Its SQL may refer to the row `t`, the joins, and the values of the given filters. */
export interface ComputedColumn {
  sql: string | ((givenFilters: readonly string[]) => string);
  convert: Conversion;
}

/** Converts the text of a column to the property's value. */
type Conversion = (text: string) => unknown;

/** A nested object of text columns of a joined table: `{ from: 'project', fields: ['id', 'name'] }`. */
interface Embedded {
  from: string;
  fields: string[];
}

/** Which columns a reader reads. */
export interface ColumnOptions {
  /** Columns beside the entity's own, by property. */
  columns?: Record<string, ComputedColumn | Embedded>;
  /** Properties of the entity that are not read. */
  exclude?: string[];
  /** Properties that are read, such as `identifier` and `project.name`. Default: all. */
  fields?: ReadonlySet<string>;
  /** Properties of the entity that may hold megabytes. Large values are read by separate statements on the slow connections. */
  largeColumns?: string[];
  /** Properties of the entity that keep PostgreSQL's text. */
  textColumns?: string[];
}

/** Values of more bytes are large. */
const LARGE_BYTES = 16 * 1024;

/** Estimated bytes of JSON per stored byte, unless the column is not compressed. */
const JSON_EXPANSION = 8;

export const keepText: Conversion = (text) => text;
export const parseJsonColumn: Conversion = (text) => JSON.parse(text);

/** Selects the columns of a reader, and converts a row of text to a record with the entity's prototype. */
export class RowMapper {
  readonly table: string;
  readonly idType: 'text' | 'int' | 'bigint';
  /** Index of a column that is never null: null there marks a row without a record. */
  readonly nonNullColumnIndex: number;
  /** Converts a row whose columns begin at index `start`. */
  readonly toRecord: (row: TextRow, start: number) => object;
  /** Properties that are read, in the order of their columns. */
  readonly properties: readonly string[];
  /** Whether large values are null in the rows. The last column then holds their size in bytes, or null when none is large. */
  readonly omitsLargeValues: boolean;
  /** Index of the id's column; set when large values are omitted. */
  readonly idIndex: number;
  readonly #metadata: EntityMetadata;
  readonly #selectedFields: ReadonlySet<string> | null;
  readonly #columns: ComputedColumn['sql'][] = [];
  /** JavaScript statements that assign the properties of a record. */
  readonly #assignments: string[] = [];
  readonly #conversions: Conversion[] = [];
  #sizeColumn = '';

  constructor(
    metadata: EntityMetadata,
    { columns = {}, exclude = [], fields, largeColumns = [], textColumns = [] }: ColumnOptions,
    omitLargeValues = true,
  ) {
    this.table = `"${metadata.tableName}"`;
    this.#metadata = metadata;
    const own = metadata.props.filter(({ name, persist, hidden }) => {
      return persist !== false && !hidden && !(name in columns) && !exclude.includes(name);
    });
    const names = [...own.map(({ name }) => name), ...Object.keys(columns)];
    // A field without a column, such as an accessor of the entity, may depend on any column.
    this.#selectedFields = fields && [...fields].every((path) => names.includes(toPropertyName(path))) ? fields : null;
    const owner = names.includes('builderId') ? 'builderId' : 'id';
    const selected = new Set(this.#selectedFields ? [owner, ...[...this.#selectedFields].map(toPropertyName)] : names);
    const hasLarge = largeColumns.some((name) => selected.has(name));
    if (hasLarge) selected.add('id');
    this.properties = names.filter((name) => selected.has(name));
    this.omitsLargeValues = omitLargeValues && hasLarge;
    const sizes: string[] = [];
    for (const { name, fieldNames, columnTypes } of own) {
      if (!selected.has(name)) continue;
      const column = `t."${fieldNames[0]}"`;
      const convert = textColumns.includes(name) ? keepText : findConversion(columnTypes[0]!);
      if (this.omitsLargeValues && largeColumns.includes(name)) {
        const size = toSizeSql(column, columnTypes[0]!);
        sizes.push(`coalesce(${size}, 0)`);
        this.#addColumn(name, `case when ${size} <= ${LARGE_BYTES} then ${column} end`, convert);
      } else this.#addColumn(name, column, convert);
    }
    this.idIndex = this.#columns.indexOf('t."id"');
    for (const [name, column] of Object.entries(columns)) {
      if (!selected.has(name)) continue;
      if ('sql' in column) this.#addColumn(name, column.sql, column.convert);
      else this.#addEmbedded(name, column);
    }
    this.nonNullColumnIndex = this.#columns.indexOf(`t."${metadata.properties[owner]!.fieldNames[0]}"`);
    if (this.omitsLargeValues) {
      this.#sizeColumn = `, case when greatest(${sizes.join()}) > ${LARGE_BYTES} then ${sizes.join(' + ')} end`;
    }
    const idColumnType = metadata.properties.id!.columnTypes[0]!;
    const isNumber = findConversion(idColumnType) === Number;
    this.idType = /^big/.test(idColumnType) ? 'bigint' : isNumber ? 'int' : 'text';
    const prototype = metadata.class.prototype as object;
    const unread = names.filter((name) => !selected.has(name));
    this.toRecord = this.#compileConstructor(
      Object.create(prototype, {
        ...toDescriptors(this.properties, toWritableProperty),
        ...toDescriptors(unread, toThrowingProperty),
      }),
    );
  }

  /** Returns the PostgreSQL type of a column: `text` or `timestamptz`. */
  readonly toColumnType = (column: string): string => {
    const property = this.#metadata.props.find(({ fieldNames }) => fieldNames?.[0] === column);
    if (!property) throw new Error(`${this.table} has no column ${column}.`);
    return property.columnTypes[0]!.replace(/\(.*/, '');
  };

  /** Returns the SQL of the columns. */
  toSelectList(givenFilters: readonly string[]): string {
    return (
      this.#columns.map((sql) => (typeof sql === 'string' ? sql : sql(givenFilters))).join(', ') + this.#sizeColumn
    );
  }

  /** Returns a function that calls a constructor, which is ten times as fast as an object literal with a prototype. */
  #compileConstructor(prototype: object): (row: TextRow, start: number) => object {
    const source = `function Row(row, start) { ${this.#assignments.join('; ')} }
      Row.prototype = prototype;
      return (row, start) => new Row(row, start);`;
    const names = this.#conversions.map((_, index) => `convert${index}`);
    return new Function('prototype', ...names, source)(prototype, ...this.#conversions);
  }

  #addColumn(name: string, sql: ComputedColumn['sql'], convert: Conversion): void {
    const text = `row[start + ${this.#columns.push(sql) - 1}]`;
    const index = this.#conversions.push(convert) - 1;
    const value = convert === keepText ? text : `${text} === null ? null : convert${index}(${text})`;
    this.#assignments.push(`this.${name} = ${value}`);
  }

  /** The object is null when its first field is null, unless the reference is not nullable. */
  #addEmbedded(name: string, { from, fields: [first, ...others] }: Embedded): void {
    const start = this.#columns.length;
    const reference: EntityProperty | undefined = this.#metadata.properties[`${name}Id`];
    const isRequired = reference !== undefined && !reference.nullable;
    const isRead = (field: string) =>
      !this.#selectedFields || this.#selectedFields.has(name) || this.#selectedFields.has(`${name}.${field}`);
    const read = [...(isRequired && !isRead(first!) ? [] : [first!]), ...others.filter(isRead)];
    this.#columns.push(...read.map((field) => `${from}."${toSnakeCase(field)}"`));
    const properties = read.map((field, index) => `${field}: row[start + ${start + index}]`);
    const object = `{ ${properties.join(', ')} }`;
    this.#assignments.push(
      `this.${name} = ${isRequired ? object : `row[start + ${start}] === null ? null : ${object}`}`,
    );
  }
}

const toPropertyName = (path: string) => path.split('.', 1)[0]!;

/** Shadows MikroORM's accessors on the entity's prototype, which would make each row a managed entity. */
const toWritableProperty = () => ({ value: undefined, writable: true });

/** Throws when a property that was not read is used, which would otherwise seem absent. */
const toThrowingProperty = (name: string) => ({
  get() {
    throw new Error(`${name} was not read: declare it with @Reads on the resolver that uses it.`);
  },
});

const toDescriptors = (
  names: readonly string[],
  toDescriptor: (name: string) => PropertyDescriptor,
): PropertyDescriptorMap => Object.fromEntries(names.map((name) => [name, toDescriptor(name)]));

/** Returns SQL of a value's size in bytes, which PostgreSQL finds without reading the value. */
function toSizeSql(column: string, columnType: string): string {
  const expansion = columnType.includes('external') ? 1 : JSON_EXPANSION;
  if (columnType.startsWith('jsonb')) return `pg_column_size(${column}) * ${expansion}`;
  return `octet_length(${column})`;
}

/** Returns the conversion of PostgreSQL's text of a column type. */
function findConversion(columnType: string): Conversion {
  if (columnType.startsWith('timestamptz')) return isoFromPostgres;
  if (columnType.endsWith('[]')) return (text) => parseArray(text);
  if (columnType.startsWith('jsonb')) return parseJsonColumn;
  if (columnType === 'boolean') return (text) => text === 't';
  if (/^(int|serial|smallint|double|numeric|real)/.test(columnType)) return Number;
  return keepText;
}
