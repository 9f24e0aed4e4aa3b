import type pg from 'pg';
import type { Database } from '../database/database.ts';
import { connectWithSettings, DIRECT_SETTINGS } from '../database/pool/session-settings.ts';

/** Runs the work on a new connection, which is closed afterwards. */
export async function withClient<T>({ url }: Database, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectWithSettings(url, DIRECT_SETTINGS);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs the work in a transaction on a new connection. */
export function runInTransaction<T>(database: Database, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withClient(database, async (client) => {
    await client.query('begin');
    // After an error, closing the connection rolls back.
    const result = await work(client);
    await client.query('commit');
    return result;
  });
}
