import { tokenKey } from '../../auth/token-key.ts';
import { loadConfig } from '../../config.ts';
import { openStorages, type Storage } from '../../storage/storage.ts';
import type { Shell } from '../io/cli-io.ts';
import type { Place } from './command-context.ts';

/** Runs the work with the stored bytes of the place's region. */
export async function withStorage<T>(shell: Shell, { database, clock }: Place, work: (storage: Storage) => Promise<T>) {
  const config = loadConfig(shell.env);
  return work(openStorages(config, { secret: await tokenKey(config), clock })[database.region]);
}
