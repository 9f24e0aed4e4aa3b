import type pg from 'pg';

/** Calls the listener with the seconds that each caller has waited for a connection of the pool, for metrics. */
export function measureWaits(pool: pg.Pool, listener: (seconds: number, outcome: 'ok' | 'error') => void): void {
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  // The callback form is not used: neither MikroORM nor this service calls `pool.query`.
  pool.connect = (async () => {
    const startedAt = performance.now();
    let outcome: 'ok' | 'error' = 'error';
    try {
      const client = await connect();
      outcome = 'ok';
      return client;
    } finally {
      listener((performance.now() - startedAt) / 1000, outcome);
    }
  }) as typeof pool.connect;
}
