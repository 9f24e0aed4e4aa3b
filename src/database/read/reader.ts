import type { MetadataStorage } from '@mikro-orm/core';
import { type Page, type PageMeta, pageOf } from '../../../schema/page.ts';
import type { Selection } from '../../../schema/selection.ts';
import type { TextRow } from '../pool/pg-pipeline.ts';
import { MAX_SELECTIONS, type StatementRunner } from '../pool/runner.ts';
import {
  type Form,
  isTotalKept,
  type Prepared,
  prepareRead,
  type ReadDeclaration,
  shortDigest,
} from './read-statement.ts';
import { RowShape } from './row-shape.ts';

/** What a reader needs of a regional database. */
export interface ReadDatabase {
  readonly metadata: MetadataStorage;
  readonly runner: StatementRunner;
  /** Connections for large values and for reads that may take long, which nobody else should wait for. */
  readonly slowRunner: StatementRunner;
  /** Those of the request that reads; null where nothing is limited. */
  readonly limits: ReadLimits | null;
}

/** What a request may read beside small records. */
export interface ReadLimits {
  /** Waits until the request may hold large values; rejects with 429 or 503. */
  acquireLargeRead(): Promise<void>;
  /** Counts bytes of large values that the request holds; throws 400 where they are too many. */
  hold(bytes: number): void;
  /** Runs a read that may take long, once the share of the caller has room for it. */
  runSlowRead<T>(read: () => Promise<T>): Promise<T>;
}

export interface ReaderDeclaration<Filter extends string> extends ReadDeclaration<Filter> {
  /** Tells readers of one entity apart, in the names of their statements. Default: the entity's name. */
  name?: string;
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

/** Bytes of large values that one statement reads, about. */
const LARGE_BATCH_BYTES = 4 * 1024 * 1024;

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
  /** Whether this reads some properties of the records, and not all. */
  readonly #isSelection: boolean;
  #shape: RowShape | null = null;
  /** Reads rows with their large values; made for the first of them. */
  #largeRows: Prepared | null = null;
  /** Whether nothing is read of a record but which it is, and whose. */
  #isIdentity: boolean | null = null;

  constructor(entity: Class<T>, declaration: ReaderDeclaration<Filter> = {}, isSelection = false) {
    this.name = declaration.name ?? entity.name;
    this.#entity = entity;
    this.#declaration = declaration;
    this.#isSelection = isSelection;
  }

  get entity(): Class<T> {
    return this.#entity;
  }

  /** The same reader, of records that hold no more than what is read of them; of all where that is not told. */
  reading(selection: Selection | null): Reader<T, Filter> {
    if (!selection) return this;
    let reader = this.#selections.get(selection.key);
    if (!reader) {
      const [oldest] = this.#selections.keys();
      if (this.#selections.size === MAX_SELECTIONS) this.#selections.delete(oldest!);
      const name = `${this.name}~${shortDigest(selection.key)}`;
      const declaration = { ...this.#declaration, name, only: selection.paths, uncounted: !selection.total };
      reader = new Reader(this.#entity, declaration, true);
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
    // PostgreSQL keeps a statement that has a name on every connection, and clients may select in any number of ways.
    const isKept = !this.#isSelection || database.runner.hasRoomFor(name);
    const key = isKept ? name : `unnamed ${name}`;
    let prepared = this.#statements.get(key);
    if (!prepared) {
      prepared = prepareRead(isKept ? name : '', form, filters, this.#shapeIn(database), this.#declaration);
      this.#statements.set(key, prepared);
    }
    return prepared;
  }

  #shapeIn({ metadata }: ReadDatabase): RowShape {
    this.#shape ??= new RowShape(metadata.get(this.#entity), this.#declaration);
    return this.#shape;
  }

  /** The rows for each of the keys; for one who asks without, those of the values alone. */
  async #ask(database: ReadDatabase, prepared: Prepared, where: Where, keys?: Keys): Promise<TextRow[][]> {
    if (keys?.values.length === 0) return [];
    const { runner, slowRunner, limits } = database;
    const { statement, form, names, shape } = prepared;
    const values = names.map((name) => where[name] ?? null);
    const question = { values, keys: keys && { at: names.indexOf(keys.name), of: keys.values } };
    const isSlow = form === 'deep' || Number(where.offset ?? 0) >= DEEP;
    const readSlowly = () => slowRunner.askAlone(statement, question);
    const found = !isSlow ? runner.ask(statement, question) : limits ? limits.runSlowRead(readSlowly) : readSlowly();
    return shape.isGuarded ? this.#withLargeValues(database, prepared, await found) : found;
  }

  /** Reads the rows that have large values once more, with these. */
  async #withLargeValues(database: ReadDatabase, { shape, form }: Prepared, found: TextRow[][]): Promise<TextRow[][]> {
    const start = form === 'one' || form === 'all' ? 1 : 2;
    /** The sizes of the large values of each row that has any, by its id. */
    const sizes = new Map<string, number>();
    for (const rows of found) {
      for (const row of rows) {
        const size = row.at(-1);
        if (size != null) sizes.set(row[start + shape.idIndex]!, Number(size));
      }
    }
    if (sizes.size === 0) return found;
    await database.limits?.acquireLargeRead();
    const large = await this.#readLargeRows(database, sizes);
    return found.map((rows) =>
      rows.flatMap((row) => {
        if (row.at(-1) == null) return [row];
        const values = large.get(row[start + shape.idIndex]!);
        if (values) return [[...row.slice(0, start), ...values.slice(1)]];
        // It was deleted meanwhile. Of a page, the total remains.
        return form === 'one' ? [] : [row.map((value, index) => (index < start ? value : null))];
      }),
    );
  }

  async #readLargeRows(database: ReadDatabase, sizes: Map<string, number>): Promise<Map<string, TextRow>> {
    this.#largeRows ??= prepareRead(
      `${this.name}.large()`,
      ...(['one', [], new RowShape(database.metadata.get(this.#entity), this.#declaration, false)] as const),
      this.#declaration,
    );
    const { statement, names } = this.#largeRows;
    const large = new Map<string, TextRow>();
    for (const ids of batchesOf(sizes)) {
      const question = { values: names.map(() => null), keys: { at: names.indexOf('id'), of: ids } };
      const found = await database.slowRunner.askAlone(statement, question);
      for (const [index, [row]] of found.entries()) {
        if (!row) continue;
        large.set(ids[index]!, row);
        database.limits?.hold(row.reduce((bytes, value) => bytes + (value?.length ?? 0), 0));
      }
    }
    return large;
  }

  #given(where: Where): string[] {
    return Object.keys(this.#declaration.filters ?? {}).filter((name) => where[name] != null);
  }
}

/** Ids whose large values are read together, so that a statement and its answer have a bounded size. */
function batchesOf(sizes: Map<string, number>): string[][] {
  const batches: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [id, size] of sizes) {
    if (bytes + size > LARGE_BATCH_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(id);
    bytes += size;
  }
  return batches;
}
