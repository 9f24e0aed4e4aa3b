import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { CONNECT_MS } from './timeouts.ts';

const AGAIN_MS = 100;

/**
 * Starters of the service do the work one after the other. It goes by a lock of the database, which ends with its connection,
 * whatever becomes of this process.
 *
 * @param name of the work
 */
export async function inTurn<T>(url: string, name: string, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  // Its loss is told by the statement that is under way, or by the next.
  client.on('error', () => undefined);
  await client.connect();
  const take = 'select pg_try_advisory_lock(hashtext($1)) as taken';
  try {
    // Waiting in the database would hold a snapshot, for whose end an index that is built `concurrently` would wait.
    while (!(await client.query(take, [name])).rows[0].taken) await sleep(AGAIN_MS);
    return await work();
  } finally {
    await client.end();
  }
}
