import { loadTokenKeys } from '../../auth/token-keys.ts';
import { loadConfig } from '../../config.ts';
import { openStorages, type Storage } from '../../storage/storage.ts';
import type { CliIo } from '../io/cli-io.ts';
import type { CommandContext } from './command-context.ts';

/** Runs the work with the file storage of the context's region. */
export async function withStorage<T>(
  io: CliIo,
  { database, clock }: CommandContext,
  work: (storage: Storage) => Promise<T>,
) {
  const config = loadConfig(io.env);
  return work(openStorages(config, { secrets: await loadTokenKeys(config), clock })[database.region]);
}
