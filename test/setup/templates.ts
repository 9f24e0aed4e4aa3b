import 'reflect-metadata';
import { Client, escapeLiteral } from 'pg';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import type { DemoFile } from '../../src/demo/demo-file.ts';
import { loadDemoInto } from '../../src/demo/load.ts';
import type { Cluster } from '../../src/dev-postgres/cluster.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { EMPTY, TEMPLATES } from './template-names.ts';

const BASE_URL = 'http://localhost:4000';
/** Timesheets of each builder: enough for several pages, and few enough to clone quickly. */
const TIMESHEETS = 100;

/** Creates the template databases in a new cluster. Returns the accounts of their demo data. */
export async function createTemplates(cluster: Cluster): Promise<DemoFile> {
  await hashPasswordAgain(cluster);
  await createTables(cluster);
  return loadDemoData(cluster);
}

/** Hashes the password of initdb with the iterations of the cluster's settings. */
async function hashPasswordAgain(cluster: Cluster): Promise<void> {
  const client = new Client(cluster.url('postgres'));
  await client.connect();
  await client.query(`alter role postgres password ${escapeLiteral(new URL(cluster.url('postgres')).password)}`);
  await client.end();
}

async function createTables(cluster: Cluster): Promise<void> {
  await cluster.ensureDatabase(EMPTY);
  const database = new Database('au1', cluster.url(EMPTY));
  await runPendingMigrations(database, 'auto');
  const pending = await database.orm.schema.getUpdateSchemaSQL({ wrap: false });
  await database.close();
  if (pending.trim() === '') return;
  throw new Error(`No migration makes what the entities declare. Run: npm run cli -- migrate create NAME\n${pending}`);
}

/** Closes the databases at the end, because PostgreSQL clones only templates without connections. */
async function loadDemoData(cluster: Cluster): Promise<DemoFile> {
  for (const region of REGIONS) await cluster.ensureDatabase(TEMPLATES[region], EMPTY);
  const databases = Object.fromEntries(
    REGIONS.map((region) => [region, new Database(region, cluster.url(TEMPLATES[region]))]),
  ) as Databases;
  const file = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: TIMESHEETS });
  for (const region of REGIONS) await databases[region].close();
  return file;
}
