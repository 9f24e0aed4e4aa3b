import { chmod, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import type { DemoFile } from '../../src/demo/demo-file.ts';
import type { Cluster } from '../../src/dev-postgres/cluster.ts';
import type { RegionId } from '../../src/shared/regions.ts';
import { openPreparedCluster } from './prepared-cluster.ts';
import { EMPTY_TEMPLATE, REGION_TEMPLATES, SAMPLE_TEMPLATE } from './template-names.ts';

declare module 'vitest' {
  interface ProvidedContext {
    cluster: {
      /** Superuser's connection to the database `postgres` of the run's cluster. */
      url: string;
      /** Database with empty tables. */
      empty: string;
      /** A database with the rows of `test/samples/company`, and one of each entity that has none there. */
      sample: string;
      /** A database of each region, with accounts and the rows of `test/setup/company`. */
      templates: Record<RegionId, string>;
    };
    /** Accounts of the templates, which are those of the demo. */
    demo: DemoFile;
  }
}

const PREFIX = 'builder-api-test-';
const DAY_MS = 86_400_000;
/** A file system in memory, where a database of 670 files is cloned in a seventh of the processor time that a disk takes. */
const MEMORY = '/dev/shm';
/** Bytes that a run may have there at a time: its templates, the clones of four workers, and the log. */
const MEMORY_BYTES = 3 * 2 ** 30;

/**
 * Returns the folder for the files of PostgreSQL: in memory where that has enough space. Nothing in them has to survive a crash. Removes
 * what runs that were killed have left in memory.
 */
async function chooseFolder(): Promise<string> {
  const facts = await statfs(MEMORY).catch(() => null);
  if (!facts || facts.bavail * facts.bsize < MEMORY_BYTES) return tmpdir();
  for (const name of (await readdir(MEMORY)).filter((each) => each.startsWith(PREFIX))) {
    const folder = join(MEMORY, name);
    const changed = await stat(folder).catch(() => null);
    if (changed && Date.now() - changed.mtimeMs > DAY_MS) await rm(folder, { recursive: true, force: true });
  }
  return MEMORY;
}

/** Starts one PostgreSQL for the whole test run, in a temporary folder. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(await chooseFolder(), PREFIX));
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
    project.provide('cluster', {
      url: cluster.url('postgres'),
      empty: EMPTY_TEMPLATE,
      sample: SAMPLE_TEMPLATE,
      templates: REGION_TEMPLATES,
    });
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
