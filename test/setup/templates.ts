import 'reflect-metadata';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, escapeLiteral } from 'pg';
import { Builder } from '../../entities/builder.entity.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { Database } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { createAccountRows } from '../../src/demo/account-rows.ts';
import { BUILDERS, generateBuilder } from '../../src/demo/accounts.ts';
import { createDemoFile, type DemoFile } from '../../src/demo/demo-file.ts';
import { insertRows } from '../../src/demo/rows.ts';
import type { Cluster } from '../../src/dev-postgres/cluster.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { insertGeneratedRows } from '../support/generated-rows.ts';
import { createCompanyRows } from './company/company.ts';
import { DEMO_KEY, EMPTY_TEMPLATE, REGION_TEMPLATES, SAMPLE_TEMPLATE, SAMPLES } from './template-names.ts';

const BASE_URL = 'http://localhost:4000';

/** Creates the template databases in a new cluster. Returns their accounts, which are those of the demo data. */
export async function createTemplates(cluster: Cluster): Promise<DemoFile> {
  await rehashPassword(cluster);
  await createTables(cluster);
  await importSample(cluster);
  return loadRows(cluster);
}

/** Hashes the password of initdb with the iterations of the cluster's settings. */
async function rehashPassword(cluster: Cluster): Promise<void> {
  const client = new Client(cluster.url('postgres'));
  await client.connect();
  await client.query(`alter role postgres password ${escapeLiteral(new URL(cluster.url('postgres')).password)}`);
  await client.end();
}

async function createTables(cluster: Cluster): Promise<void> {
  await cluster.ensureDatabase(EMPTY_TEMPLATE);
  const database = new Database('au1', cluster.url(EMPTY_TEMPLATE));
  await runPendingMigrations(database, 'auto');
  const pending = await database.orm.schema.getUpdateSchemaSQL({ wrap: false });
  // Rewritten tables have no maps of free space and visibility. Each clone of the database copies 71 files fewer.
  await database.fork().execute('vacuum full');
  await database.close();
  if (pending.trim() === '') return;
  throw new Error(`No migration makes what the entities declare. Run: npm run cli -- migrate create NAME\n${pending}`);
}

async function importSample(cluster: Cluster): Promise<void> {
  await cluster.ensureDatabase(SAMPLE_TEMPLATE, EMPTY_TEMPLATE);
  const database = new Database('au1', cluster.url(SAMPLE_TEMPLATE));
  await importFolder(database, SAMPLES);
  const [builder] = (await readFile(join(SAMPLES, 'builders.ndjson'), 'utf8')).split('\n', 1);
  await insertGeneratedRows(database, JSON.parse(builder!).id, 'a0generated');
  await database.close();
}

/** Closes the databases at the end, because PostgreSQL clones only templates without connections. */
async function loadRows(cluster: Cluster): Promise<DemoFile> {
  const file = createDemoFile(REGIONS, BASE_URL, DEMO_KEY);
  for (const region of REGIONS) {
    await cluster.ensureDatabase(REGION_TEMPLATES[region], EMPTY_TEMPLATE);
    const database = new Database(region, cluster.url(REGION_TEMPLATES[region]));
    const rows = await createAccountRows(file, region);
    for (let index = 0; index < BUILDERS[region]; index++) {
      rows.add(Builder, { ...generateBuilder(region, index), logoKey: null });
      rows.addAll(createCompanyRows(region, index));
    }
    await database.transaction((em) => insertRows(em, rows));
    // Plans of queries must not depend on when statistics are collected.
    await database.fork().execute('analyze');
    await database.close();
  }
  return file;
}
