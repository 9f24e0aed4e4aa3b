import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { DemoFile } from '../../src/demo/demo-file.ts';
import { type Cluster, openCluster } from '../../src/dev-postgres/cluster.ts';
import { findTransitiveImports } from '../support/imports.ts';
import { EMPTY_TEMPLATE, REGION_TEMPLATES, SAMPLE_TEMPLATE, SAMPLES } from './template-names.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules', '.cache', 'test-clusters');
const DEMO = 'demo.json';

/** Settings that make clones and connections fast: no waits for a vacuum or a checkpoint, and no hashing of the password. */
const SETTINGS = {
  ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  ...{ autovacuum: 'off', max_wal_size: '1GB', checkpoint_timeout: '1h', scram_iterations: '1' },
  ...{ file_copy_method: 'clone', shared_preload_libraries: 'plpgsql' },
};

/**
 * Opens a cluster with the template databases in an empty folder. The first run with the same sources on a day creates it, which takes
 * seconds, and keeps a copy; later runs copy that.
 */
export async function openPreparedCluster(dataDir: string): Promise<{ cluster: Cluster; demo: DemoFile }> {
  const prepared = join(CACHE, hashSources());
  if (!existsSync(prepared)) await createPreparedCluster(prepared, dataDir);
  else await copyFolder(prepared, dataDir);
  const demo = JSON.parse(await readFile(join(dataDir, DEMO), 'utf8')) as DemoFile;
  const cluster = await openCluster({ dataDir, settings: SETTINGS });
  await cacheCatalogs(cluster);
  return { cluster, demo };
}

/**
 * Connects to each template, because a database's first connection writes a file of its catalogs, which takes 4 ms. Clones have the file of
 * their template, and PostgreSQL removes it when it starts.
 */
async function cacheCatalogs(cluster: Cluster): Promise<void> {
  for (const template of [EMPTY_TEMPLATE, SAMPLE_TEMPLATE, ...Object.values(REGION_TEMPLATES)]) {
    const client = new Client(cluster.url(template));
    await client.connect();
    await client.end();
  }
}

/** Returns the files that the templates depend on, as paths from the root. */
export const findSources = () => [
  ...findTransitiveImports(relative(ROOT, import.meta.filename)),
  ...readdirSync(SAMPLES)
    .filter((name) => name.endsWith('.ndjson'))
    .map((name) => relative(ROOT, join(SAMPLES, name))),
  'package-lock.json',
];

/** Returns a hash of the sources and of the day, because rows have the time of their creation. */
function hashSources(): string {
  const hash = createHash('sha256').update(new Date().toISOString().slice(0, 10));
  for (const file of findSources()) hash.update(file).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex').slice(0, 32);
}

async function createPreparedCluster(prepared: string, dataDir: string): Promise<void> {
  // Few segments of the log, because they are copied.
  const cluster = await openCluster({ dataDir, settings: { ...SETTINGS, max_wal_size: '64MB', min_wal_size: '32MB' } });
  try {
    await sendPasswords(dataDir);
    const { createTemplates } = await import('./templates.ts');
    await writeFile(join(dataDir, DEMO), JSON.stringify(await createTemplates(cluster)));
  } finally {
    await cluster.stop();
  }
  await mkdir(CACHE, { recursive: true });
  const draft = join(CACHE, randomUUID());
  await mkdir(draft);
  await copyFolder(dataDir, draft);
  // Another run may have created the same meanwhile.
  await rename(draft, prepared).catch(() => undefined);
  // Names with hyphens are drafts of other runs.
  const outdated = (await readdir(CACHE)).filter((name) => !name.includes('-') && join(CACHE, name) !== prepared);
  for (const name of outdated) await rm(join(CACHE, name), { recursive: true, force: true });
}

/** Has clients send the password instead of proving that they have it, from the next start of the server. That saves 2 of a connection's 7 ms. */
async function sendPasswords(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postgres', 'pg_hba.conf');
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/scram-sha-256$/gm, 'password'));
}

/** Copies the content of a folder with owners and permissions, because PostgreSQL runs as another user where this process is root. */
const copyFolder = (from: string, to: string) => run('cp', ['-Rp', `${from}/.`, to]);
