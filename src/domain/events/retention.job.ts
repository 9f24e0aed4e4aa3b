import type { Database, Databases } from '../../database/database.ts';
import type { Job } from '../../shared/jobs.ts';

/** Days that events are kept (EVT-11). */
export const RETENTION_DAYS = 30;

/** Days whose partitions exist beforehand. The sequencer creates one that is missing, which waits for locks. */
const DAYS_AHEAD = 3;

const INTERVAL_MS = 3_600_000;

const LIST = `select to_char(to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
  from pg_inherits where inhparent = 'public.event'::regclass order by 1`;

/** Creates the partitions of the coming days, and drops those of days that are no longer kept. */
export async function maintainPartitions(database: Database, now: number) {
  const toDay = (offset: number) => new Date(now + offset * 86_400_000).toISOString().slice(0, 10);
  const list = () => database.fork().execute<{ day: string }[]>(LIST);
  const existing = await list();
  for (let offset = 0; offset <= DAYS_AHEAD; offset++) {
    if (existing.some(({ day }) => day === toDay(offset))) continue;
    await database.fork().execute('select public.create_event_partition(?::date)', [toDay(offset)]);
  }
  const created = (await list()).length - existing.length;
  // The event at the time of the oldest allowed cursor may be on the first of the days, so that one more is kept.
  const expired = existing.filter(({ day }) => day < toDay(-RETENTION_DAYS - 1));
  for (const { day } of expired) await dropPartition(database, day);
  return { created, dropped: expired.length };
}

/** Drops a day as the owner of the log, which the role of the service need not be. */
async function dropPartition(database: Database, day: string): Promise<void> {
  await database.transaction(async (em) => {
    // Readers of the log queue behind a waiting drop. The next run tries again.
    await em.execute(`set local lock_timeout = '500ms'`);
    await em.execute('select public.drop_event_partition(?::date)', [day]);
  });
}

/** Returns the job that maintains the partitions every hour, by the database's clock: a wrong one would drop days. */
export const createRetentionJob = (databases: Databases): Job => ({
  name: 'maintain event log',
  everyMs: INTERVAL_MS,
  run: async (region) => maintainPartitions(databases[region], await databases[region].now()),
});
