import DataLoader from 'dataloader';
import type { Page, PageWindow } from '../../../schema/page.ts';
import { MAX_LIMIT } from '../../../schema/scalars.ts';
import { type ApiError, invalidField } from '../../shared/errors.ts';
import type { Database } from '../database.ts';
import type { Identity, Reader, Where } from './reader.ts';

/**
 * Maximum records that one request may read; each page counts as a full one. Far above the need of a dashboard, and far below that
 * of a query whose nested lists multiply.
 */
export const MAX_RECORDS = 25_000;

/** An object of another entity that refers to a record. */
type Summary = Pick<Identity, 'id'> & Partial<Identity>;
type KeyLoader = DataLoader<string, unknown>;

/** Batched reads of one request: reads for many parents become one statement. */
export class Loaders {
  readonly #database: Database;
  readonly #loaders = new Map<string, KeyLoader>();
  #remainingRecords = MAX_RECORDS;
  /** Shared, because thousands of reads of a query may exceed the limit. */
  #limitError: ApiError | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Counts records before they are read. Throws 400 when they exceed the request's maximum. */
  reserveRecords(records: number): void {
    const error = this.#charge(records);
    if (error) throw error;
  }

  /** Clears the count and the cache, for a request that is executed again from the beginning. */
  reset(): void {
    this.#remainingRecords = MAX_RECORDS;
    this.#loaders.clear();
  }

  /** Returns the record with the id; null when there is none that matches. */
  load<T extends object, F extends string>(
    reader: Reader<T, F>,
    id: string,
    where: Where<NoInfer<F>> = {},
  ): Promise<T | null> {
    const error = this.#charge(1);
    return error ? Promise.reject(error) : this.#load(reader, id, where);
  }

  /** Returns the record that a summary refers to, without a query when the summary has all properties that are read. */
  loadFromSummary<T extends object, F extends string>(
    reader: Reader<T, F>,
    { id, builderId }: Summary,
  ): T | Promise<T | null> {
    const error = this.#charge(1);
    if (error) return Promise.reject(error);
    const record = builderId === undefined ? null : reader.fromIdentity(this.#database, { id, builderId });
    return record ?? this.#load(reader, id, {});
  }

  /** Returns one page of the rows whose filter `parent` has the value `key`. */
  loadPage<T extends object, F extends string>(
    reader: Reader<T, F>,
    parent: NoInfer<F>,
    key: string,
    where: Where<NoInfer<F>>,
    window: PageWindow,
  ): Promise<Page<T>> {
    const error = this.#charge(MAX_LIMIT);
    if (error) return Promise.reject(error);
    const name = `${reader.name}.${parent} ${window.offset} ${window.limit} ${toCursorText(window)}${toKeyText(where)}`;
    const loader = this.#loaders.get(name) ?? this.#createPageLoader(name, reader, parent, where, window);
    return loader.load(key) as Promise<Page<T>>;
  }

  /**
   * Returns the value of an id from one read for all ids of the request; null without one.
   *
   * @param name Calls with the same name share a read.
   */
  async loadFrom<T>(
    name: string,
    id: string,
    read: (database: Database, ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<T | null> {
    const batch = async (ids: readonly string[]) => {
      const values = await read(this.#database, ids);
      return ids.map((each) => values.get(each) ?? null);
    };
    return (this.#loaders.get(name) ?? this.#addLoader(name, batch)).load(id) as Promise<T | null>;
  }

  /** Returns an error instead of throwing: a synchronous error would hide the results of reads that the caller has begun. */
  #charge(records: number): ApiError | null {
    this.#remainingRecords -= records;
    if (this.#remainingRecords >= 0) return null;
    this.#limitError ??= invalidField('query', `must not ask for more than ${MAX_RECORDS} records`);
    return this.#limitError;
  }

  #load<T extends object, F extends string>(reader: Reader<T, F>, id: string, where: Where<F>): Promise<T | null> {
    const name = `${reader.name} ${toKeyText(where)}`;
    const loader = this.#loaders.get(name) ?? this.#createRecordLoader(name, reader, where);
    return loader.load(id) as Promise<T | null>;
  }

  #createRecordLoader<T extends object, F extends string>(
    name: string,
    reader: Reader<T, F>,
    where: Where<F>,
  ): KeyLoader {
    return this.#addLoader(name, (ids) => reader.findMany(this.#database, ids, where));
  }

  #createPageLoader<T extends object, F extends string>(
    name: string,
    reader: Reader<T, F>,
    parent: F,
    where: Where<F>,
    window: PageWindow,
  ): KeyLoader {
    return this.#addLoader(name, (keys) => reader.findPages(this.#database, parent, keys, where, window));
  }

  #addLoader(name: string, batch: (keys: readonly string[]) => Promise<unknown[]>): KeyLoader {
    const loader = new DataLoader(batch);
    this.#loaders.set(name, loader);
    return loader;
  }
}

/** Returns '' fast for the common windows without cursor. */
function toCursorText({ cursor, updatedSince }: PageWindow): string {
  return cursor == null && updatedSince == null ? '' : JSON.stringify([cursor, updatedSince]);
}

/** Returns '' fast for the common edges without filters. */
function toKeyText(where: object): string {
  for (const name in where) if (where[name as never] !== undefined) return JSON.stringify(where);
  return '';
}
