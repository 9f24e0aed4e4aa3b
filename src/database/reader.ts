import type { MetadataStorage } from '@mikro-orm/core';
import { type Page, pageOf } from '../../schema/page.ts';
import { type Form, isTotalKept, type Prepared, prepareRead, type ReadDeclaration } from './read-statement.ts';
import { RowShape } from './row-shape.ts';
import type { StatementRunner } from './runner.ts';
import type { TextRow } from './wire.ts';

/** What a reader needs of a regional database. */
export interface ReadDatabase {
  readonly metadata: MetadataStorage;
  readonly runner: StatementRunner;
}

export interface ReaderDeclaration<Filter extends string> extends ReadDeclaration<Filter> {
  /** Tells readers of one entity apart, in the names of their statements. Default: the entity's name. */
  name?: string;
  /** Whether a single row may be megabytes, which nobody else should wait for. */
  large?: boolean;
}

/** Values of the filters to apply, by name; null and undefined apply none. */
export type Where<Filter extends string = string> = Partial<Record<Filter, unknown>>;

type Class<T> = new (...args: never[]) => T;

export interface Window {
  offset: number;
  limit: number;
}

/** One of the values that a statement takes, and what it is for each of those who ask. */
interface Keys {
  name: string;
  values: readonly string[];
}

/** From this offset on, a page may take long: of a large list it is looked for in an index alone. */
const DEEP = 500;

/**
 * Typed reads of one entity. Every statement is named, prepared once, takes its values as bound parameters, and answers as many
 * as ask it at once: several parents of one request, and several requests.
 */
export class Reader<T extends object, Filter extends string = never> {
  readonly name: string;
  readonly #entity: Class<T>;
  readonly #declaration: ReaderDeclaration<Filter>;
  readonly #statements = new Map<string, Prepared>();
  #shape: RowShape | null = null;

  constructor(entity: Class<T>, declaration: ReaderDeclaration<Filter> = {}) {
    this.name = declaration.name ?? entity.name;
    this.#entity = entity;
    this.#declaration = declaration;
  }

  /** One window of the rows that match, and how many match in all. */
  async page(database: ReadDatabase, where: Where<Filter>, window: Window): Promise<Page<T>> {
    const [page] = await this.#pages(database, this.#given(where), where, window);
    return page!;
  }

  /** The same for each of many parents at once: `parent` names the filter that the keys are values of. */
  pages(
    database: ReadDatabase,
    parent: Filter,
    keys: readonly string[],
    where: Where<Filter>,
    window: Window,
  ): Promise<Page<T>[]> {
    const filters = this.#given({ ...where, [parent]: keys });
    return this.#pages(database, filters, where, window, { name: parent, values: keys });
  }

  /** The row of that id, if it matches. */
  async one(database: ReadDatabase, id: string, where: Where<Filter> = {}): Promise<T | null> {
    const [row] = await this.many(database, [id], where);
    return row!;
  }

  /** The rows of those ids, in their order; null where there is none. */
  async many(database: ReadDatabase, ids: readonly string[], where: Where<Filter> = {}): Promise<(T | null)[]> {
    const found = await this.#ask(database, 'one', this.#given(where), where, { name: 'id', values: ids });
    return found.map(([row]) => (row ? (this.#shape!.make(row, 1) as T) : null));
  }

  /** Every row that matches, in the list's order. For lists that are not paged. */
  async all(database: ReadDatabase, where: Where<Filter>): Promise<T[]> {
    const [rows] = await this.#ask(database, 'all', this.#given(where), where);
    return this.#rows(rows!, 1);
  }

  async #pages(
    database: ReadDatabase,
    filters: string[],
    where: Where,
    window: Window,
    keys?: Keys,
  ): Promise<Page<T>[]> {
    const far = window.offset >= DEEP || !isTotalKept(this.#declaration, filters);
    const form = this.#declaration.totalBy && far ? 'deep' : 'page';
    const found = await this.#ask(database, form, filters, { ...where, ...window }, keys);
    return found.map((rows) => pageOf(this.#rows(rows, 2), Number(rows[0]![1]), window));
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

  /** The rows for each of the keys; for one who asks without, those of the values alone. */
  async #ask(database: ReadDatabase, form: Form, filters: string[], where: Where, keys?: Keys): Promise<TextRow[][]> {
    if (keys?.values.length === 0) return [];
    const { runner, metadata } = database;
    const name = `${this.name}.${form}(${filters.join()})`;
    let prepared = this.#statements.get(name);
    if (!prepared) {
      this.#shape ??= new RowShape(metadata.get(this.#entity), this.#declaration);
      prepared = prepareRead(name, form, filters, this.#shape, this.#declaration);
      this.#statements.set(name, prepared);
    }
    const { statement, names } = prepared;
    const values = names.map((name) => where[name] ?? null);
    const at = keys ? names.indexOf(keys.name) : -1;
    const asked = keys ? keys.values.map((key) => values.with(at, key)) : [values];
    const slow = form === 'deep' || Number(where.offset ?? 0) >= DEEP || this.#declaration.large;
    return slow ? runner.askAlone(statement, asked) : runner.ask(statement, asked);
  }

  #given(where: Where): string[] {
    return Object.keys(this.#declaration.filters ?? {}).filter((name) => where[name] != null);
  }
}
