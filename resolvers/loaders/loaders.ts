import DataLoader from 'dataloader';
import type { Page } from '../../schema/page.ts';
import type { Database } from '../../src/database/database.ts';
import type { Reader, Where, Window } from '../../src/database/reader.ts';

/** Batched reads of one request: what many parents ask for at once becomes one statement. */
export class Loaders {
  readonly #database: Database;
  readonly #loaders = new Map<string, DataLoader<string, unknown>>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** The row of that id, or null. */
  one<T extends object, F extends string>(
    reader: Reader<T, F>,
    id: string,
    where: Where<NoInfer<F>> = {},
  ): Promise<T | null> {
    return this.#loader(`${reader.name} ${JSON.stringify(where)}`, (ids) =>
      reader.many(this.#database, ids, where),
    ).load(id) as Promise<T | null>;
  }

  /** One window of the rows whose filter `parent` has the value `key`. */
  page<T extends object, F extends string>(
    reader: Reader<T, F>,
    parent: NoInfer<F>,
    key: string,
    where: Where<NoInfer<F>>,
    window: Window,
  ): Promise<Page<T>> {
    return this.#loader(`${reader.name}.${parent} ${JSON.stringify([where, window])}`, (keys) =>
      reader.pages(this.#database, parent, keys, where, window),
    ).load(key) as Promise<Page<T>>;
  }

  #loader(name: string, batch: (keys: readonly string[]) => Promise<unknown[]>): DataLoader<string, unknown> {
    let loader = this.#loaders.get(name);
    if (!loader) {
      loader = new DataLoader(batch);
      this.#loaders.set(name, loader);
    }
    return loader;
  }
}
