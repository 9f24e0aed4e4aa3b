import 'reflect-metadata';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, escapeLiteral } from 'pg';
import type { TestProject } from 'vitest/node';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import type { DemoFile } from '../../src/demo/demo-file.ts';
import { loadDemoInto } from '../../src/demo/load.ts';
import { type Cluster, openCluster } from '../../src/dev-postgres/cluster.ts';
import { REGIONS, type RegionId } from '../../src/shared/regions.ts';

declare module 'vitest' {
  interface ProvidedContext {
    cluster: {
      /** Superuser's connection to the database `postgres` of the run's cluster. */
      url: string;
      /** Database with empty tables. */
      empty: string;
      /** One of each region, with the demo data. */
      templates: Record<RegionId, string>;
    };
    /** Accounts of the demo data of the templates. */
    demo: DemoFile;
  }
}

const BASE_URL = 'http://localhost:4000';
/** Settings that make clones and connections fast: no waits for a vacuum or a checkpoint, and no hashing of the password. */
const SETTINGS = {
  ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  ...{ autovacuum: 'off', max_wal_size: '4GB', checkpoint_timeout: '1h', scram_iterations: '1' },
};
/** Timesheets of each builder: enough for several pages, and few enough to clone quickly. */
const TIMESHEETS = 100;

/** Starts one PostgreSQL for the whole test run, in a temporary folder. Nothing in it has to survive a crash. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-test-'));
  // As root, PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(dataDir, 0o711);
  let cluster: Cluster | undefined;
  const stop = async () => {
    await cluster?.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    cluster = await openCluster({ dataDir, settings: SETTINGS });
    await hashPasswordAgain(cluster);
    const templates = { au1: 'template_au1', us1: 'template_us1' };
    const empty = 'template_empty';
    await makeTables(cluster, empty);
    project.provide('demo', await fillTemplates(cluster, empty, templates));
    project.provide('cluster', { url: cluster.url('postgres'), empty, templates });
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Hashes the password of initdb with the iterations of `SETTINGS`. */
async function hashPasswordAgain(cluster: Cluster): Promise<void> {
  const client = new Client(cluster.url('postgres'));
  await client.connect();
  await client.query(`alter role postgres password ${escapeLiteral(new URL(cluster.url('postgres')).password)}`);
  await client.end();
}

async function makeTables(cluster: Cluster, name: string): Promise<void> {
  await cluster.ensureDatabase(name);
  const database = new Database('au1', cluster.url(name));
  await runPendingMigrations(database, 'auto');
  const pending = await database.orm.schema.getUpdateSchemaSQL({ wrap: false });
  await database.close();
  if (pending.trim() === '') return;
  throw new Error(`No migration makes what the entities declare. Run: npm run cli -- migrate create NAME\n${pending}`);
}

/** Loads the demo data. Closes the databases, because PostgreSQL clones only templates without connections. */
async function fillTemplates(cluster: Cluster, empty: string, templates: Record<RegionId, string>): Promise<DemoFile> {
  for (const region of REGIONS) await cluster.ensureDatabase(templates[region], empty);
  const databases = Object.fromEntries(
    REGIONS.map((region) => [region, new Database(region, cluster.url(templates[region]))]),
  ) as Databases;
  const file = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: TIMESHEETS });
  for (const region of REGIONS) await databases[region].close();
  return file;
}
