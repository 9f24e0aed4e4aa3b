import { loadTokenKeys } from '../../auth/token-keys.ts';
import { loadConfig } from '../../config.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import { openStorages, type Storage } from '../../storage/storage.ts';
import type { CliIo } from '../io/cli-io.ts';

/** Returns the file storage of the context's region. */
export async function openStorage(io: CliIo, { database, clock }: ChangeContext): Promise<Storage> {
  const config = loadConfig(io.env);
  return openStorages(config, { secrets: await loadTokenKeys(config), clock })[database.region];
}
