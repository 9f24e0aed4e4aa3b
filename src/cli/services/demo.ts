import { loadTokenKeys } from '../../auth/token-keys.ts';
import { runPendingMigrations } from '../../database/run-migrations.ts';
import { loadDemo, readState } from '../../demo/load.ts';
import { storeDemoPictures } from '../../demo/store-pictures.ts';
import { REGIONS } from '../../shared/regions.ts';
import { openStorages } from '../../storage/storage.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo } from '../io/cli-io.ts';
import { withDatabases } from './database-session.ts';

/** Loads the demo data into the regions that are empty. Returns the path of its credentials. Throws `CliError` if `au1` has other data. */
export const loadDemoData = (io: CliIo): Promise<string> =>
  withDatabases(io, async (databases, config) => {
    if (config.production) throw CliError.forOption('demo', 'is not available in production');
    for (const region of REGIONS) await runPendingMigrations(databases[region], config.migrate);
    if ((await readState(databases.au1)) === 'OTHER')
      throw CliError.forOption('demo', 'au1 has data other than the demo data');
    const secrets = await loadTokenKeys(config);
    const storages = openStorages(config, { secrets, clock: io.clock });
    const demo = await loadDemo(databases, config, secrets[0]!, io.clock, () => storeDemoPictures(storages));
    return demo!.file;
  });
