import type pg from 'pg';
import { isLostConnection } from '../database/errors.ts';
import { COMMON_SETTINGS, connectWithSettings } from '../database/pool/session-settings.ts';

/** An import or export that cannot be done; the message is one line for the operator. */
export class ExchangeError extends Error {
  override name = 'ExchangeError';
}

/** One transaction on a connection of its own, ended with `commit` when the work answers that it should be. */
export async function inTransaction<T extends { commit: boolean }>(
  url: string,
  begin: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connectWithSettings(url, COMMON_SETTINGS, { keepAlive: true });
  let ending = false;
  try {
    await client.query(begin);
    const result = await work(client);
    ending = true;
    await client.query(result.commit ? 'commit' : 'rollback');
    return result;
  } catch (error) {
    if (!isLostConnection(error)) throw error;
    // An answer to a commit that never came leaves open which it was; doing it once more settles that.
    const outcome = ending ? 'at the very end: do it again' : 'and nothing was changed';
    throw new ExchangeError(`The connection to the database was lost, ${outcome}.`, { cause: error });
  } finally {
    // Without a commit the server takes everything back.
    await client.end().catch(() => {});
  }
}
