import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Interval of the samples. Each takes about 300 µs of CPU time, equally for all services. */
const INTERVAL_MS = 25;

/** Counts active sessions, and those of them that wait until the WAL of their commit is written and synced. */
const SAMPLE = `select count(*)::int as running,
    count(*) filter (where wait_event in ('WalSync', 'WalWrite', 'WALWrite'))::int as committing
  from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and state = 'active' and pid <> pg_backend_pid()`;

/** Runs the load and returns its result with the fraction of the active time of PostgreSQL sessions that waits for commits, from 0 to 1. */
export async function measureCommitWait<T>(
  url: string,
  runLoad: () => Promise<T>,
): Promise<{ result: T; fraction: number }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const total = { running: 0, committing: 0 };
    let isRunning = true;
    const running = runLoad().finally(() => {
      isRunning = false;
    });
    while (isRunning) {
      const { rows } = await client.query({ name: 'sample', text: SAMPLE });
      total.running += rows[0].running;
      total.committing += rows[0].committing;
      await sleep(INTERVAL_MS);
    }
    return { result: await running, fraction: total.committing / Math.max(1, total.running) };
  } finally {
    await client.end();
  }
}
