import { join } from 'node:path';
import { Builder } from '../../entities/builder.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import type { Config } from '../config.ts';
import type { Database, Databases } from '../database/database.ts';
import { withAdvisoryLock } from '../database/write/advisory-lock.ts';
import { type Clock, systemClock } from '../shared/clock.ts';
import { REGIONS } from '../shared/regions.ts';
import { addLimitedIntegrator, createAccountRows } from './account-rows.ts';
import { BUILDERS, createIntegratorId, INTEGRATORS } from './accounts.ts';
import { type BuilderRowsOptions, createBuilderRows } from './builder-rows.ts';
import { createDemoFile, type DemoFile, type DemoStaff, writeDemoFile } from './demo-file.ts';
import type { DemoPicture } from './photos.ts';
import { insertRows } from './rows.ts';

/** Values for the example command of the welcome message. */
export interface DemoSummary {
  /** Path of `demo.json`. */
  file: string;
  clientId: string;
  clientSecret: string;
  staff: DemoStaff[];
}

const FILE = 'demo.json';
/** Per builder: 10,000 in `au1`. */
export const TIMESHEETS = 2_500;
const LOCK = 'builder-integration-api demo';

/**
 * Loads the demo data into regional databases that are empty, and updates `demo.json`. Returns null if `au1` has other data.
 *
 * @param key key from which the credentials are derived
 * @param storePictures only called if photos are loaded
 */
export function loadDemo(
  databases: Databases,
  config: Config,
  key: string,
  clock: Clock = systemClock,
  storePictures: () => Promise<readonly DemoPicture[]> = async () => [],
): Promise<DemoSummary | null> {
  // Concurrent starts wait for the lock and then find the data loaded.
  return withAdvisoryLock(databases.au1.url, LOCK, async () => {
    const states = await Promise.all(
      REGIONS.map(async (region) => [region, await readState(databases[region])] as const),
    );
    const demos = states.filter(([, state]) => state !== 'OTHER');
    if (demos.length === 0) return null;
    const path = join(config.dataDir, FILE);
    const regions = demos.map(([region]) => region);
    const file = createDemoFile(regions, config.baseUrl, key);
    await writeDemoFile(path, file);
    const empty = demos.filter(([, state]) => state === 'EMPTY');
    const pictures = empty.length > 0 ? await storePictures() : [];
    const options = { now: clock.now(), timesheets: TIMESHEETS, pictures };
    await Promise.all(empty.map(([region]) => populateDatabase(databases[region], file, options)));
    const client = file.clients.find(({ integrator }) => integrator === 'A');
    if (!client?.clientSecret) return null;
    return { file: path, clientId: client.clientId, clientSecret: client.clientSecret, staff: file.staff };
  });
}

/** Loads the demo data into an empty database in one transaction. */
export async function populateDatabase(database: Database, file: DemoFile, options: BuilderRowsOptions): Promise<void> {
  const { region } = database;
  const rows = await createAccountRows(file, region);
  if (region === 'au1') addLimitedIntegrator(rows, options.now);
  for (let index = 0; index < BUILDERS[region]; index++) rows.addAll(createBuilderRows(region, index, options));
  await database.transaction(async (em) => {
    await insertRows(em, rows);
    // The feed begins after the demo, whose records nobody has missed. SQL: the event log has no entities.
    await em.execute('delete from event_pending');
  });
  // Without statistics the planner treats the tables as empty until autovacuum runs.
  await database.fork().execute('analyze');
}

/** Returns whether the database is empty, has the demo data or has other data. */
export async function readState(database: Database): Promise<'EMPTY' | 'DEMO' | 'OTHER'> {
  const em = database.fork();
  const { name } = INTEGRATORS.find(({ region }) => region === database.region)!;
  if (await em.count(Integrator, { id: createIntegratorId(name) })) return 'DEMO';
  return (await em.count(Builder)) || (await em.count(Integrator)) ? 'OTHER' : 'EMPTY';
}
