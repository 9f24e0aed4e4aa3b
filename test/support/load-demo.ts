import type { Databases } from '../../src/database/database.ts';
import { FOUNDED } from '../../src/demo/accounts.ts';
import type { BuilderRowsOptions } from '../../src/demo/builder-rows.ts';
import { createDemoFile, type DemoFile } from '../../src/demo/demo-file.ts';
import { populateDatabase, TIMESHEETS } from '../../src/demo/load.ts';
import { DAY } from '../../src/demo/local-calendar.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { newSecret } from '../../src/shared/secrets.ts';

/** Instant of loading, in milliseconds, of demo data that is the same each time. */
export const BASE = Date.parse(FOUNDED) + 730 * DAY;

interface DemoOptions extends Partial<BuilderRowsOptions> {
  baseUrl: string;
  /** Key from which the credentials are derived. */
  key?: string;
}

/** Loads the demo data into empty databases, by default as if on a fixed day. Returns the content of `demo.json`. */
export async function loadDemoInto(databases: Databases, options: DemoOptions): Promise<DemoFile> {
  const { baseUrl, key = newSecret(), now = BASE, timesheets = TIMESHEETS, pictures = [] } = options;
  const file = createDemoFile(REGIONS, baseUrl, key);
  await Promise.all(REGIONS.map((region) => populateDatabase(databases[region], file, { now, timesheets, pictures })));
  return file;
}
