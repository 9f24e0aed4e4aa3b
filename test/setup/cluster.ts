import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import type { DemoFile } from '../../src/demo/demo-file.ts';
import type { Cluster } from '../../src/dev-postgres/cluster.ts';
import type { RegionId } from '../../src/shared/regions.ts';
import { openPreparedCluster } from './prepared-cluster.ts';
import { EMPTY_TEMPLATE, REGION_TEMPLATES } from './template-names.ts';

declare module 'vitest' {
  interface ProvidedContext {
    cluster: {
      /** Superuser's connection to the database `postgres` of the run's cluster. */
      url: string;
      /** Database with empty tables. */
      empty: string;
      /** A database of each region, with accounts and the rows of `test/setup/company`. */
      templates: Record<RegionId, string>;
    };
    /** Accounts of the templates, which are those of the demo. */
    demo: DemoFile;
  }
}

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
    const prepared = await openPreparedCluster(dataDir);
    cluster = prepared.cluster;
    project.provide('demo', prepared.demo);
    project.provide('cluster', { url: cluster.url('postgres'), empty: EMPTY_TEMPLATE, templates: REGION_TEMPLATES });
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
