import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openCluster } from '../../src/database/cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    cluster: {
      /** Superuser's connection to the database `postgres` of the run's cluster. */
      url: string;
      /** Database that `createDatabase` clones when it is not told another. */
      template: string;
    };
  }
}

/** One PostgreSQL for the whole test run, in a folder that goes with it; what is lost in a crash is not missed. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-test-'));
  // As root, PostgreSQL runs as another user, who has to pass through.
  await chmod(dataDir, 0o711);
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  try {
    const cluster = await openCluster({ dataDir, settings });
    const template = 'template1';
    // The template database is migrated and filled here, once for the run; name it in place of template1.
    project.provide('cluster', { url: cluster.url('postgres'), template });
    return async () => {
      await cluster.stop();
      await rm(dataDir, { recursive: true, force: true });
    };
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}
