import DataLoader from 'dataloader';
import type { Page, PageWindow } from '../../../schema/page.ts';
import type { Database } from '../database.ts';
import type { Where } from './filter.ts';
import type { Identity, Reader } from './reader.ts';

/** An object of another entity that refers to a record. */
type Summary = Pick<Identity, 'id'> & Partial<Identity>;
type KeyLoader = DataLoader<string, unknown>;

/** Batched reads of one request: reads for many parents become one statement. */
export class Loaders {
  readonly #database: Database;
  readonly #loaders = new Map<string, KeyLoader>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Clears the cache, for a request that is executed again from the beginning. */
  reset(): void {
    this.#loaders.clear();
  }

  /** Returns the record with the id; null when there is none that matches. */
  load<T extends object, F extends string>(
    reader: Reader<T, F>,
    id: string,
    where: Where<NoInfer<F>> = {},
  ): Promise<T | null> {
    const name = `${reader.name} ${toKeyText(where)}`;
    const loader =
      this.#loaders.get(name) ?? this.#addLoader(name, (ids) => reader.findMany(this.#database, ids, where));
    return loader.load(id) as Promise<T | null>;
  }

  /** Returns the record that a summary refers to, without a query when the summary has all properties that are read. */
  loadFromSummary<T extends object, F extends string>(
    reader: Reader<T, F>,
    { id, builderId }: Summary,
  ): T | Promise<T | null> {
    const record = builderId === undefined ? null : reader.fromIdentity(this.#database, { id, builderId });
    return record ?? this.load(reader, id);
  }

  /** Returns one page of the rows whose filter `parent` has the value `key`. */
  loadPage<T extends object, F extends string>(
    reader: Reader<T, F>,
    parent: NoInfer<F>,
    key: string,
    where: Where<NoInfer<F>>,
    window: PageWindow,
  ): Promise<Page<T>> {
    const name = `${reader.name}.${parent} ${window.offset} ${window.limit} ${toCursorText(window)}${toKeyText(where)}`;
    const loader =
      this.#loaders.get(name) ??
      this.#addLoader(name, (keys) => reader.findPages(this.#database, parent, keys, where, window));
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

  #addLoader(name: string, batch: (keys: readonly string[]) => Promise<unknown[]>): KeyLoader {
    const loader = new DataLoader(batch);
    this.#loaders.set(name, loader);
    return loader;
  }
}

/** Returns '' fast for the common windows. */
const toCursorText = ({ cursor, updatedSince, order }: PageWindow): string =>
  cursor == null && updatedSince == null && order == null ? '' : JSON.stringify([cursor, updatedSince, order]);

/** Returns '' fast for the common edges without filters. */
function toKeyText(where: object): string {
  for (const name in where) if (where[name as never] !== undefined) return JSON.stringify(where);
  return '';
}
