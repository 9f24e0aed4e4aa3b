import DataLoader from 'dataloader';
import type { Page } from '../../../schema/page.ts';
import { MAX_LIMIT } from '../../../schema/scalars.ts';
import { type ApiError, invalidField } from '../../shared/errors.ts';
import type { Database } from '../database.ts';
import type { Identity, Reader, Where, Window } from './reader.ts';

/**
 * Records that one request may ask for, each page counted as a full one: far above what a dashboard asks, far below what
 * a query that multiplies itself level by level would take.
 */
export const MAX_RECORDS = 25_000;

type Summary = Pick<Identity, 'id'> & Partial<Identity>;
type Loader = DataLoader<string, unknown>;

/** Batched reads of one request: what many parents ask for at once becomes one statement. */
export class Loaders {
  readonly #database: Database;
  readonly #loaders = new Map<string, Loader>();
  #left = MAX_RECORDS;
  /** One for all: the places of a query that are refused may be thousands. */
  #refusal: ApiError | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Takes from what the request may ask for, before it is read; throws 400 when there is nothing left. */
  take(records: number): void {
    const refusal = this.#spend(records);
    if (refusal) throw refusal;
  }

  /** For a request that is executed from its beginning once more: it may ask for as much again, and reads it anew. */
  reset(): void {
    this.#left = MAX_RECORDS;
    this.#loaders.clear();
  }

  /** The row of that id, or null. */
  one<T extends object, F extends string>(
    reader: Reader<T, F>,
    id: string,
    where: Where<NoInfer<F>> = {},
  ): Promise<T | null> {
    const refusal = this.#spend(1);
    return refusal ? Promise.reject(refusal) : this.#load(reader, id, where);
  }

  /** The record that a summary is of. What the summary tells of it is not read once more. */
  whole<T extends object, F extends string>(reader: Reader<T, F>, { id, builderId }: Summary): T | Promise<T | null> {
    const refusal = this.#spend(1);
    if (refusal) return Promise.reject(refusal);
    const record = builderId === undefined ? null : reader.known(this.#database, { id, builderId });
    return record ?? this.#load(reader, id, {});
  }

  /** One window of the rows whose filter `parent` has the value `key`. */
  page<T extends object, F extends string>(
    reader: Reader<T, F>,
    parent: NoInfer<F>,
    key: string,
    where: Where<NoInfer<F>>,
    window: Window,
  ): Promise<Page<T>> {
    const refusal = this.#spend(MAX_LIMIT);
    if (refusal) return Promise.reject(refusal);
    const name = `${reader.name}.${parent} ${window.offset} ${window.limit} ${textOf(where)}`;
    const loader = this.#loaders.get(name) ?? this.#loaderOfPages(name, reader, parent, where, window);
    return loader.load(key) as Promise<Page<T>>;
  }

  /** A read that is refused rejects like one that fails: it must not keep its caller from hearing of the others that it began. */
  #spend(records: number): ApiError | null {
    this.#left -= records;
    if (this.#left >= 0) return null;
    this.#refusal ??= invalidField('query', `must not ask for more than ${MAX_RECORDS} records`);
    return this.#refusal;
  }

  #load<T extends object, F extends string>(reader: Reader<T, F>, id: string, where: Where<F>): Promise<T | null> {
    const name = `${reader.name} ${textOf(where)}`;
    const loader = this.#loaders.get(name) ?? this.#loaderOfOne(name, reader, where);
    return loader.load(id) as Promise<T | null>;
  }

  #loaderOfOne<T extends object, F extends string>(name: string, reader: Reader<T, F>, where: Where<F>): Loader {
    return this.#add(name, (ids) => reader.many(this.#database, ids, where));
  }

  #loaderOfPages<T extends object, F extends string>(
    name: string,
    reader: Reader<T, F>,
    parent: F,
    where: Where<F>,
    window: Window,
  ): Loader {
    return this.#add(name, (keys) => reader.pages(this.#database, parent, keys, where, window));
  }

  #add(name: string, batch: (keys: readonly string[]) => Promise<unknown[]>): Loader {
    const loader = new DataLoader(batch);
    this.#loaders.set(name, loader);
    return loader;
  }
}

/** Most edges have no filters, and there are many. */
function textOf(where: object): string {
  for (const name in where) if (where[name as never] !== undefined) return JSON.stringify(where);
  return '';
}
