import { loadTokenKeys } from '../../auth/token-keys.ts';
import { loadConfig } from '../../config.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import { openStorages, type Storage } from '../../storage/storage.ts';
import type { CliIo } from '../io/cli-io.ts';

/** Runs the work with the file storage of the context's region. */
export async function withStorage<T>(
  io: CliIo,
  { database, clock }: ChangeContext,
  work: (storage: Storage) => Promise<T>,
) {
  const config = loadConfig(io.env);
  return work(openStorages(config, { secrets: await loadTokenKeys(config), clock })[database.region]);
}
