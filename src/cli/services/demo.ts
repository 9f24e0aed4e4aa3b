import { Builder } from '../../../entities/builder.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { tokenKey } from '../../auth/token-key.ts';
import type { Config } from '../../config.ts';
import type { Database, Databases } from '../../database/database.ts';
import { ACCOUNTS, integratorIdOf } from '../../demo/accounts.ts';
import { loadDemo } from '../../demo/load.ts';
import { keepDemoPictures } from '../../demo/pictures.ts';
import { loadTimesheets } from '../../demo/timesheets.ts';
import type { Clock } from '../../shared/clock.ts';
import type { RegionId } from '../../shared/regions.ts';
import { openStorages } from '../../storage/storage.ts';
import { refuse } from '../cli-error.ts';
import type { Progress } from '../io/progress.ts';

export interface DemoRequest {
  region: RegionId;
  /** How many to add. */
  timesheets: number;
}

/** Loads the demo data where there is none, and adds timesheets to it in bulk. Never touches data of anybody else. */
export async function addDemoData(
  { databases, config, clock }: { databases: Databases; config: Config; clock: Clock },
  { region, timesheets }: DemoRequest,
  progress: Progress,
) {
  if (config.production) refuse('demo', 'production takes no demo data');
  await requireNobodyElse(databases[region]);
  const storages = openStorages(config, { secret: await tokenKey(config), clock });
  const loaded = await loadDemo(databases, config, clock, () => keepDemoPictures(storages));
  const show = (done: number) => progress.show('timesheets', done, timesheets, `${done} of ${timesheets}`);
  if (timesheets > 0) {
    try {
      show(0);
      await loadTimesheets(databases[region], timesheets, show);
    } finally {
      progress.end();
    }
  }
  return { regionId: region, timesheets, credentials: loaded?.file ?? null };
}

/** Refuses a region with data that is not the demo's. */
async function requireNobodyElse(database: Database): Promise<void> {
  const { region } = database;
  const em = database.fork();
  const vendors = ACCOUNTS.flatMap((account) => (account.region === region && account.vendor ? [account.vendor] : []));
  const isDemo = await em.count(Integrator, { id: { $in: vendors.map((vendor) => integratorIdOf(vendor)) } });
  const isEmpty = !(await em.count(Builder)) && !(await em.count(Integrator));
  if (!isDemo && !isEmpty) refuse('--region', `${region} holds data that is not the demo's`);
}
