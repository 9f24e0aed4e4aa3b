import { Builder } from '../../../entities/builder.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { loadTokenKeys } from '../../auth/token-keys.ts';
import type { Config } from '../../config.ts';
import type { Database, Databases } from '../../database/database.ts';
import { ACCOUNTS, createIntegratorId } from '../../demo/accounts.ts';
import { loadDemo } from '../../demo/load.ts';
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
  await requireNoOtherData(databases[region]);
  const storages = openStorages(config, { secrets: await loadTokenKeys(config), clock });
  const loaded = await loadDemo(databases, config, clock, () => storeDemoPictures(storages));
  const show = (done: number) => progress.update('timesheets', done, timesheets, `${done} of ${timesheets}`);
  if (timesheets > 0) {
    try {
      show(0);
      await loadTimesheets(databases[region], timesheets, show);
    } finally {
      progress.stop();
    }
  }
  return { regionId: region, timesheets, credentials: loaded?.file ?? null };
}

/** Throws `CliError` if the region has data other than the demo data. */
async function requireNoOtherData(database: Database): Promise<void> {
  const { region } = database;
  const em = database.fork();
  const integratorNames = ACCOUNTS.flatMap((account) =>
    account.region === region && account.integrator ? [account.integrator] : [],
  );
  const isDemo = await em.count(Integrator, { id: { $in: integratorNames.map((name) => createIntegratorId(name)) } });
  const isEmpty = !(await em.count(Builder)) && !(await em.count(Integrator));
  if (!isDemo && !isEmpty) throw CliError.forOption('--region', `${region} has data other than the demo data`);
}
