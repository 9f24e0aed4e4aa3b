import type { EntityMetadata } from '@mikro-orm/core';
import { parse as parseArray } from 'postgres-array';
import { isoFromPostgres, snakeCase } from '../../entities/columns.ts';
import type { TextRow } from './wire.ts';

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
}

export const asText: Conversion = (text) => text;
export const asJson: Conversion = (text) => JSON.parse(text);

/** The columns that a reader selects, and how a row of text becomes an object with the entity's prototype. */
export class RowShape {
  readonly table: string;
  /** Place of the id among the columns. */
  readonly idColumn: number;
  readonly idType: 'text' | 'int';
  readonly make: (row: TextRow, start: number) => object;
  readonly #sql: ComputedColumn['sql'][] = [];
  /** Source of the properties of a row's object literal. */
  readonly #properties: string[] = [];
  readonly #conversions: Conversion[] = [];

  constructor(metadata: EntityMetadata, declaration: Columns) {
    this.table = `"${metadata.tableName}"`;
    const computed = declaration.columns ?? {};
    for (const property of metadata.props) {
      if (property.persist === false || property.name in computed || declaration.without?.includes(property.name))
        continue;
      this.#column(property.name, `t."${property.fieldNames[0]}"`, conversionOf(property.columnTypes[0]!));
    }
    for (const [name, column] of Object.entries(computed)) {
      if ('sql' in column) this.#column(name, column.sql, column.as);
      else this.#embedded(name, column);
    }
    this.idColumn = this.#sql.indexOf(`t."${metadata.properties.id!.fieldNames[0]}"`);
    this.idType = conversionOf(metadata.properties.id!.columnTypes[0]!) === Number ? 'int' : 'text';
    this.make = this.#maker(metadata.class.prototype as object);
  }

  select(given: readonly string[]): string {
    return this.#sql.map((sql) => (typeof sql === 'string' ? sql : sql(given))).join(', ');
  }

  /**
   * A literal's properties are the row's own. Were they set one by one, MikroORM's accessors on the prototype would make a
   * managed entity of each row, which takes ten times as long.
   */
  #maker(prototype: object): (row: TextRow, start: number) => object {
    const source = `return (row, start) => ({ __proto__: prototype, ${this.#properties.join(', ')} })`;
    const names = this.#conversions.map((_, at) => `convert${at}`);
    return new Function('prototype', ...names, source)(prototype, ...this.#conversions);
  }

  #column(name: string, sql: ComputedColumn['sql'], convert: Conversion): void {
    const text = `row[start + ${this.#sql.push(sql) - 1}]`;
    const at = this.#conversions.push(convert) - 1;
    const value = convert === asText ? text : `${text} === null ? null : convert${at}(${text})`;
    this.#properties.push(`${name}: ${value}`);
  }

  #embedded(name: string, { from, fields }: Embedded): void {
    const first = this.#sql.length;
    const properties = fields.map((field, index) => `${field}: row[start + ${first + index}]`);
    this.#sql.push(...fields.map((field) => `${from}."${snakeCase(field)}"`));
    this.#properties.push(`${name}: row[start + ${first}] === null ? null : { ${properties.join(', ')} }`);
  }
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
