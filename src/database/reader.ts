import type { MetadataStorage } from '@mikro-orm/core';
import { type Page, type PageMeta, pageOf } from '../../schema/page.ts';
import type { Selection } from '../../schema/selection.ts';
import {
  type Form,
  isTotalKept,
  type Prepared,
  prepareRead,
  type ReadDeclaration,
  shortDigest,
} from './read-statement.ts';
import { RowShape } from './row-shape.ts';
import { MAX_SELECTIONS, type StatementRunner } from './runner.ts';
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

/** Which record it is, and whose. */
export interface Identity {
  id: string;
  builderId: string;
}

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

class UncountedPage<T> implements Page<T> {
  readonly data: T[];

  constructor(data: T[]) {
    this.data = data;
  }

  get meta(): PageMeta {
    throw new Error('The total was not counted, because nothing was seen to read it.');
  }
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
  readonly #selections = new Map<string, Reader<T, Filter>>();
  /** The reader of whole records, where this is of some properties. */
  readonly #whole: Reader<T, Filter> | null;
  #shape: RowShape | null = null;
  /** Whether nothing is read of a record but which it is, and whose. */
  #isIdentity: boolean | null = null;

  constructor(entity: Class<T>, declaration: ReaderDeclaration<Filter> = {}, whole: Reader<T, Filter> | null = null) {
    this.name = declaration.name ?? entity.name;
    this.#entity = entity;
    this.#declaration = declaration;
    this.#whole = whole;
  }

  /** The same reader, of records that hold no more than what is read of them; of all where that is not told, or too varied. */
  reading(selection: Selection | null): Reader<T, Filter> {
    if (!selection) return this;
    let reader = this.#selections.get(selection.key);
    if (!reader) {
      if (this.#selections.size === MAX_SELECTIONS) return this;
      const name = `${this.name}~${shortDigest(selection.key)}`;
      const declaration = { ...this.#declaration, name, only: selection.paths, uncounted: !selection.total };
      reader = new Reader(this.#entity, declaration, this);
      this.#selections.set(selection.key, reader);
    }
    return reader;
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
    const prepared = this.#prepared(database, 'one', this.#given(where));
    const found = await this.#ask(database, prepared, where, { name: 'id', values: ids });
    return found.map(([row]) => (row ? (prepared.shape.make(row, 1) as T) : null));
  }

  /** The record, where it is read for nothing but what is known of it; null where there is more to read. */
  known(database: ReadDatabase, identity: Identity): T | null {
    const { read, make } = this.#shapeIn(database);
    this.#isIdentity ??= read.every((name) => Object.hasOwn(identity, name));
    if (!this.#isIdentity) return null;
    const row = read.map((name) => identity[name as keyof Identity]);
    return make(row, 0) as T;
  }

  /** Every row that matches, in the list's order. For lists that are not paged. */
  async all(database: ReadDatabase, where: Where<Filter>): Promise<T[]> {
    const prepared = this.#prepared(database, 'all', this.#given(where));
    const [rows] = await this.#ask(database, prepared, where);
    return this.#records(prepared, rows!, 1);
  }

  async #pages(
    database: ReadDatabase,
    filters: string[],
    where: Where,
    window: Window,
    keys?: Keys,
  ): Promise<Page<T>[]> {
    const { totalBy, uncounted } = this.#declaration;
    const far = window.offset >= DEEP || !(uncounted || isTotalKept(this.#declaration, filters));
    const prepared = this.#prepared(database, totalBy && far ? 'deep' : 'page', filters);
    const found = await this.#ask(database, prepared, { ...where, ...window }, keys);
    return found.map((rows) => {
      const data = this.#records(prepared, rows, 2);
      return uncounted ? new UncountedPage(data) : pageOf(data, Number(rows[0]![1]), window);
    });
  }

  /** A left join answers with empty columns where a page holds no row. */
  #records({ shape: { make, certain } }: Prepared, rows: TextRow[], start: number): T[] {
    const made: T[] = [];
    for (const row of rows) {
      if (row[start + certain] !== null) made.push(make(row, start) as T);
    }
    return made;
  }

  #prepared(database: ReadDatabase, form: Form, filters: string[]): Prepared {
    const name = `${this.name}.${form}(${filters.join()})`;
    if (this.#whole && !database.runner.hasRoomFor(name)) return this.#whole.#prepared(database, form, filters);
    let prepared = this.#statements.get(name);
    if (!prepared) {
      prepared = prepareRead(name, form, filters, this.#shapeIn(database), this.#declaration);
      this.#statements.set(name, prepared);
    }
    return prepared;
  }

  #shapeIn({ metadata }: ReadDatabase): RowShape {
    this.#shape ??= new RowShape(metadata.get(this.#entity), this.#declaration);
    return this.#shape;
  }

  /** The rows for each of the keys; for one who asks without, those of the values alone. */
  #ask(database: ReadDatabase, prepared: Prepared, where: Where, keys?: Keys): Promise<TextRow[][]> {
    if (keys?.values.length === 0) return Promise.resolve([]);
    const { runner } = database;
    const { statement, form, names } = prepared;
    const values = names.map((name) => where[name] ?? null);
    const question = { values, keys: keys && { at: names.indexOf(keys.name), of: keys.values } };
    const slow = form === 'deep' || Number(where.offset ?? 0) >= DEEP || this.#declaration.large;
    return slow ? runner.askAlone(statement, question) : runner.ask(statement, question);
  }

  #given(where: Where): string[] {
    return Object.keys(this.#declaration.filters ?? {}).filter((name) => where[name] != null);
  }
}
