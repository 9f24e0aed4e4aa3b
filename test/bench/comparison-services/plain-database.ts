import pg from 'pg';
import { WRITE_CONNECTIONS } from './plain-limits.ts';
import type { Region } from './request-authorizer.ts';

const { DATABASE_URL_AU1, DATABASE_URL_US1 } = process.env;

export const pools: Record<Region, pg.Pool> = {
  au1: new pg.Pool({ connectionString: DATABASE_URL_AU1, max: WRITE_CONNECTIONS }),
  us1: new pg.Pool({ connectionString: DATABASE_URL_US1, max: WRITE_CONNECTIONS }),
};

/** Runs the function in a transaction. Rolls back when it throws. */
export async function runInTransaction<T>(pool: pg.Pool, execute: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await execute(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}
