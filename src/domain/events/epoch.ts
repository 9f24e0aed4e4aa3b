import type { Database } from '../../database/database.ts';

/** Renews the epoch of the log: every cursor expires, and readers copy the lists again (EVT-12). Returns the new epoch. */
export async function renewEpoch(database: Pick<Database, 'fork'>): Promise<string> {
  const [row] = await database.fork().execute<{ epoch: string }[]>('select public.renew_event_epoch() as epoch');
  return row!.epoch;
}
