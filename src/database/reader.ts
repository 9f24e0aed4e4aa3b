import { createHash } from 'node:crypto';
import type { EntityMetadata, MetadataStorage } from '@mikro-orm/core';
import { parse as parseArray } from 'postgres-array';
import { isoFromPostgres, snakeCase } from '../../entities/columns.ts';
import { type Page, pageOf } from '../../schema/page.ts';
import type { StatementRunner } from './runner.ts';
import type { Statement, TextRow } from './wire.ts';

/** What a reader needs of a regional database. */
export interface ReadDatabase {
  readonly metadata: MetadataStorage;
  readonly runner: StatementRunner;
}

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

export interface ReaderDeclaration<Filter extends string> {
  /** Tells readers of one entity apart, in the names of their statements. Default: the entity's name. */
  name?: string;
  /** Joins from the row `t` to what the columns need. They must not drop or multiply rows. */
  joins?: string;
  columns?: Record<string, ComputedColumn | Embedded>;
  /** SQL condition over `t` of each filter; `:name` stands for the filter's own value. */
  filters?: Record<Filter, string>;
  /** A condition that always holds. */
  always?: string;
  /** Columns of the entity that this reader leaves out. */
  without?: string[];
  /** Order of lists. Default: `createdAt`, then `id` (part 5 of the decisions). */
  order?: string;
  /**
   * Where the entity `KeepsTotal`, its column of the kind: rows need not be counted unless another filter is given than those
   * of the builder, the project and the kind.
   */
  totalBy?: 'status' | 'source';
}

/** Values of the filters to apply, by name; null and undefined apply none. */
export type Where<Filter extends string = string> = Partial<Record<Filter, unknown>>;

type Class<T> = new (...args: never[]) => T;

export interface Window {
  offset: number;
  limit: number;
}

/** From this offset on, a page of a large list is looked for in an index alone. */
const DEEP = 500;

export const asText: Conversion = (text) => text;
export const asJson: Conversion = (text) => JSON.parse(text);

/** Typed reads of one entity. Every statement is named, prepared once, and takes its values as bound parameters. */
export class Reader<T extends object, Filter extends string = never> {
  readonly name: string;
  readonly #entity: Class<T>;
  readonly #declaration: ReaderDeclaration<Filter>;
  readonly #statements = new Map<string, { statement: Statement; names: string[] }>();
  #shape: Shape | null = null;

  constructor(entity: Class<T>, declaration: ReaderDeclaration<Filter> = {}) {
    this.name = declaration.name ?? entity.name;
    this.#entity = entity;
    this.#declaration = declaration;
  }

  /** One window of the rows that match, and how many match in all. */
  async page(database: ReadDatabase, where: Where<Filter>, window: Window): Promise<Page<T>> {
    const far = window.offset >= DEEP || !this.#isTotalKept(this.#given(where));
    const kind = this.#declaration.totalBy && far ? 'deep' : 'page';
    const rows = await this.#run(database, kind, where, { ...window });
    return pageOf(this.#rows(rows, 1), Number(rows[0]![0]), window);
  }

  /** The same for each of many parents at once: `parent` names the filter that the keys are values of. */
  async pages(
    database: ReadDatabase,
    parent: Filter,
    keys: readonly string[],
    where: Where<Filter>,
    window: Window,
  ): Promise<Page<T>[]> {
    const rows = await this.#run(database, `pages.${parent}`, where, { ...window, keys });
    const byKey = new Map<string, TextRow[]>();
    for (const row of rows) {
      const group = byKey.get(row[0]!);
      if (group) group.push(row);
      else byKey.set(row[0]!, [row]);
    }
    return keys.map((key) => {
      const group = byKey.get(key)!;
      return pageOf(this.#rows(group, 2), Number(group[0]![1]), window);
    });
  }

  /** The row of that id, if it matches. */
  async one(database: ReadDatabase, id: string, where: Where<Filter> = {}): Promise<T | null> {
    const [row] = await this.#run(database, 'one', where, { id });
    return row ? (this.#shape!.make(row, 0) as T) : null;
  }

  /** The rows of those ids, in their order; null where there is none. */
  async many(database: ReadDatabase, ids: readonly string[], where: Where<Filter> = {}): Promise<(T | null)[]> {
    const rows = await this.#run(database, 'many', where, { ids });
    const at = this.#shape!.names.indexOf('id');
    const byId = new Map(rows.map((row) => [row[at], row]));
    return ids.map((id) => {
      const row = byId.get(id);
      return row ? (this.#shape!.make(row, 0) as T) : null;
    });
  }

  /** Every row that matches, in the list's order. For lists that are not paged. */
  async all(database: ReadDatabase, where: Where<Filter>): Promise<T[]> {
    return this.#rows(await this.#run(database, 'all', where, {}), 0);
  }

  /** A left join answers with empty columns where a page holds no row. */
  #rows(rows: TextRow[], start: number): T[] {
    const { make, idColumn } = this.#shape!;
    const made: T[] = [];
    for (const row of rows) {
      if (row[start + idColumn] !== null) made.push(make(row, start) as T);
    }
    return made;
  }

  async #run(database: ReadDatabase, kind: string, where: Where, extra: Where): Promise<TextRow[]> {
    const filters = this.#given(where);
    const key = `${kind}(${filters.join()})`;
    let compiled = this.#statements.get(key);
    if (!compiled) {
      this.#shape ??= new Shape(database.metadata.get(this.#entity), this.#declaration);
      const { text, names } = bind(this.#sql(kind, filters));
      compiled = { statement: { name: statementName(`${this.name}.${key}`), text }, names };
      this.#statements.set(key, compiled);
    }
    const values = compiled.names.map((name) => extra[name] ?? where[name] ?? null);
    return database.runner.run(compiled.statement, values);
  }

  #sql(kind: string, filters: string[]): string {
    const { table } = this.#shape!;
    const { joins = '', always = 'true', order = 't.created_at, t.id' } = this.#declaration;
    const [form, parent] = kind.split('.') as [string, string | undefined];
    const names = parent && !filters.includes(parent) ? [...filters, parent] : filters;
    const select = this.#shape!.select(names);
    const conditions = names.map((name) => (this.#declaration.filters as Record<string, string>)[name]!);
    const matching = [always, ...conditions].join(' and ');
    const total = this.#total(names, conditions, matching);
    const window = `select t.* from ${table} t where ${matching} order by ${order} limit :limit::int offset :offset::int`;
    switch (form) {
      case 'page':
        return `select c.total, ${select}
          from (${total}) c left join (${window}) t on true ${joins} order by ${order}`;
      // The ids are found in an index that holds all that is asked of it, from the end of the list that is nearer.
      case 'deep':
        return `select c.total, ${select} from (${total}) c left join lateral (
            (select t.id from ${table} t where ${matching} and :offset::int <= c.total / 2
              order by ${order} limit :limit::int offset :offset::int)
            union all
            (select t.id from ${table} t where ${matching} and :offset::int > c.total / 2 and :offset::int < c.total
              order by ${order.replaceAll(',', ' desc,')} desc limit greatest(least(:limit::int, c.total - :offset::int), 0)
              offset greatest(c.total - :offset::int - :limit::int, 0))
          ) w on true left join ${table} t on t.id = w.id ${joins} order by ${order}`;
      case 'pages':
        return `select k.key, c.total, ${select} from unnest(:keys::text[]) k(key)
          cross join lateral (${total}) c
          left join lateral (${window}) t on true ${joins} order by k.key, ${order}`.replaceAll(`:${parent}`, 'k.key');
      case 'one':
        return `select ${select} from ${table} t ${joins} where t.id = :id and ${matching}`;
      case 'many':
        return `select ${select} from ${table} t ${joins} where t.id = any(:ids) and ${matching}`;
      default:
        return `select ${select} from ${table} t ${joins} where ${matching} order by ${order}`;
    }
  }

  #total(filters: string[], conditions: string[], matching: string): string {
    const { table } = this.#shape!;
    if (!this.#isTotalKept(filters)) return `select count(*) as total from ${table} t where ${matching}`;
    const list = table.replaceAll('"', "'");
    const where = conditions.join(' and ').replaceAll(`t.${this.#declaration.totalBy}`, 't.kind');
    return `select coalesce(sum(t.added), 0)::bigint as total from list_total t where t.list = ${list} and ${where}`;
  }

  #isTotalKept(filters: string[]): boolean {
    const { totalBy } = this.#declaration;
    if (!totalBy || filters.length === 0) return false;
    return filters.every((name) => name === 'builderId' || name === 'projectId' || name === totalBy);
  }

  #given(where: Where): string[] {
    return Object.keys(this.#declaration.filters ?? {}).filter((name) => where[name] != null);
  }
}

/** PostgreSQL cuts the name of a statement after so many bytes, and takes two that begin alike for one. */
const MAX_NAME = 63;

function statementName(name: string): string {
  if (name.length <= MAX_NAME) return name;
  const digest = createHash('sha256').update(name).digest('base64url').slice(0, 12);
  return `${name.slice(0, MAX_NAME - digest.length - 1)}#${digest}`;
}

/** `:name` to `$1`: one number per name. `::type` is left alone. */
function bind(sql: string): { text: string; names: string[] } {
  const names: string[] = [];
  const text = sql.replace(/(?<!:):([a-zA-Z]+)/g, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text: text.replace(/\s+/g, ' '), names };
}

/** The columns that a reader selects, and how a row of text becomes an object with the entity's prototype. */
class Shape {
  readonly table: string;
  readonly names: string[] = [];
  readonly idColumn: number;
  readonly make: (row: TextRow, start: number) => object;
  readonly #sql: ComputedColumn['sql'][] = [];
  /** Source of the properties of a row's object literal. */
  readonly #properties: string[] = [];
  readonly #conversions: Conversion[] = [];

  constructor(metadata: EntityMetadata, declaration: ReaderDeclaration<string>) {
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
    this.idColumn = this.names.indexOf('id');
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
    return new Function('prototype', 'convert', source)(prototype, this.#conversions);
  }

  #column(name: string, sql: ComputedColumn['sql'], convert: Conversion): void {
    const text = `row[start + ${this.#sql.push(sql) - 1}]`;
    const at = this.#conversions.push(convert) - 1;
    const value = convert === asText ? text : `${text} === null ? null : convert[${at}](${text})`;
    this.names.push(name);
    this.#properties.push(`${name}: ${value}`);
  }

  #embedded(name: string, { from, fields }: Embedded): void {
    const first = this.#sql.length;
    const properties = fields.map((field, index) => `${field}: row[start + ${first + index}]`);
    for (const field of fields) {
      this.#sql.push(`${from}."${snakeCase(field)}"`);
      this.names.push(`${name}.${field}`);
    }
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
