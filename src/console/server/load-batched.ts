import type { Database } from '../../database/database.ts';
import type { ConsoleContext } from './console-area.ts';

/** Charges reads to the staff user's share of MikroORM's connections, which integrators' transactions use too. */
export const runInShare = <T>({ shares, shareKey }: ConsoleContext, read: () => Promise<T>): Promise<T> =>
  shares.writes.run(shareKey, 1, read);

/**
 * Returns the value of a key from one read for all keys of the request; null without one.
 *
 * @param name Calls with the same name share a read, so that it contains the arguments.
 */
export const loadBatched = <T>(
  context: ConsoleContext,
  name: string,
  key: string,
  read: (database: Database, keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): Promise<T | null> =>
  context.loaders.loadFrom(name, key, (database, keys) => runInShare(context, () => read(database, keys)));
