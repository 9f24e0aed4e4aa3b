import pg from 'pg';
import { WRITE_CONNECTIONS } from './plain-limits.ts';
import type { Region } from './service.ts';

const { DATABASE_URL_AU1, DATABASE_URL_US1 } = process.env;

export const pools: Record<Region, pg.Pool> = {
  au1: new pg.Pool({ connectionString: DATABASE_URL_AU1, max: WRITE_CONNECTIONS }),
  us1: new pg.Pool({ connectionString: DATABASE_URL_US1, max: WRITE_CONNECTIONS }),
};

/** What the work does in one transaction; nothing of it when it throws. */
export async function transaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}
