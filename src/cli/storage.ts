import { loadConfig } from '../config.ts';
import { tokenKey } from '../keys.ts';
import { openStorages, type Storage } from '../storage/storage.ts';
import type { Place } from './place.ts';
import type { Shell } from './shell.ts';

/** Runs the work with the stored bytes of the place's region. */
export async function withStorage<T>(shell: Shell, { database, clock }: Place, work: (storage: Storage) => Promise<T>) {
  const config = loadConfig(shell.env);
  return work(openStorages(config, { secret: await tokenKey(config), clock })[database.region]);
}
