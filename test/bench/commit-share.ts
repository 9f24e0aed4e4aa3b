import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Milliseconds between two samples. Each takes some 300 µs of CPU time, which all services bear alike. */
const INTERVAL_MS = 25;

/** Sessions that execute something, and those of them that wait until the WAL of their commit is written and synced. */
const SAMPLE = `select count(*)::int as running,
    count(*) filter (where wait_event in ('WalSync', 'WalWrite', 'WALWrite'))::int as committing
  from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and state = 'active' and pid <> pg_backend_pid()`;

/** Runs the work, and returns with its result which share of the time of PostgreSQL's sessions is waiting for commits, from 0 to 1. */
export async function measureCommits<T>(url: string, work: () => Promise<T>): Promise<{ result: T; share: number }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const total = { running: 0, committing: 0 };
    let isWorking = true;
    const working = work().finally(() => {
      isWorking = false;
    });
    while (isWorking) {
      const { rows } = await client.query({ name: 'sample', text: SAMPLE });
      total.running += rows[0].running;
      total.committing += rows[0].committing;
      await sleep(INTERVAL_MS);
    }
    return { result: await working, share: total.committing / Math.max(1, total.running) };
  } finally {
    await client.end();
  }
}
