import type pg from 'pg';
import type { Database } from '../database/database.ts';
import { COMMON_SETTINGS, connectWithSettings } from '../database/pool/session-settings.ts';

/** Works on a connection of its own, which ends with the work. */
export async function withClient<T>({ url }: Database, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectWithSettings(url, COMMON_SETTINGS);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** All or nothing, on a connection of its own. */
export function inTransaction<T>(database: Database, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withClient(database, async (client) => {
    await client.query('begin');
    // When the work fails the connection ends, and with it the transaction.
    const result = await work(client);
    await client.query('commit');
    return result;
  });
}
