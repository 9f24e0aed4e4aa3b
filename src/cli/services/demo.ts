import { loadTokenKeys } from '../../auth/token-keys.ts';
import type { Config } from '../../config.ts';
import type { Databases } from '../../database/database.ts';
import { loadDemo, readState } from '../../demo/load.ts';
import { storeDemoPictures } from '../../demo/store-pictures.ts';
import { loadTimesheets } from '../../demo/timesheets.ts';
import type { Clock } from '../../shared/clock.ts';
import type { RegionId } from '../../shared/regions.ts';
import { openStorages } from '../../storage/storage.ts';
import { CliError } from '../cli-error.ts';
import type { ProgressReporter } from '../io/progress.ts';

interface DemoRequest {
  region: RegionId;
  /** Number to add. */
  timesheets: number;
}

/** Loads the demo data into empty databases, and adds timesheets in bulk. Throws `CliError` if the region has other data. */
export async function addDemoData(
  { databases, config, clock }: { databases: Databases; config: Config; clock: Clock },
  { region, timesheets }: DemoRequest,
  progress: ProgressReporter,
) {
  if (config.production) throw CliError.forOption('demo', 'is not available in production');
  if ((await readState(databases[region])) === 'OTHER')
    throw CliError.forOption('--region', `${region} has data other than the demo data`);
  const storages = openStorages(config, { secrets: await loadTokenKeys(config), clock });
  const loaded = await loadDemo(databases, config, clock, () => storeDemoPictures(storages));
  const show = (done: number) => progress.update('timesheets', done, timesheets, `${done} of ${timesheets}`);
  if (timesheets > 0) {
    try {
      show(0);
      await loadTimesheets(databases[region], timesheets, clock.now(), show);
    } finally {
      progress.stop();
    }
  }
  return { regionId: region, timesheets, credentials: loaded?.file ?? null };
}
