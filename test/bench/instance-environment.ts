import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { openCluster } from '../../src/dev-postgres/cluster.ts';
import { Instance } from '../proof/instance.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { startSwift } from '../support/swift.ts';
import { listProcessTree } from './processes.ts';

export const BASE_URL = 'http://localhost:4000';

export type Store = 'local' | 's3';

export interface InstanceEnvironment {
  instance: Instance;
  databases: Databases;
  /** Access token of a client that may write photos of the builder. */
  token: string;
  builderId: string;
}

/** Runs the measurement with one instance of the service over databases with the demo data, and stops everything afterwards. */
export async function withInstance<T>(
  store: Store,
  measure: (environment: InstanceEnvironment) => Promise<T>,
): Promise<T> {
  const cleanups: (() => Promise<unknown>)[] = [];
  try {
    const folder = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const cluster = await openCluster({ dataDir: folder });
    cleanups.push(() => cluster.stop());
    const databases = {} as Databases;
    for (const region of ['au1', 'us1'] as const) {
      await cluster.ensureDatabase(region);
      databases[region] = new Database(region, cluster.url(region));
      cleanups.push(() => databases[region].close());
      await runPendingMigrations(databases[region], 'auto');
    }
    const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 0 });
    // The images of the demo photos are not stored, so that rendering jobs would fail during measurements.
    await databases.au1.fork().execute(`update photo_rendition set status = 'FAILED'`);
    const swift = store === 's3' ? await startSwift() : null;
    if (swift) cleanups.push(() => swift.stop());
    const instance = await Instance.start({
      ...swift?.settings,
      NODE_ENV: 'production',
      BASE_URL,
      TOKEN_KEY: randomBytes(32).toString('base64url'),
      DATABASE_URL_AU1: cluster.url('au1'),
      DATABASE_URL_US1: cluster.url('us1'),
      DATA_DIR: join(folder, 'data'),
      LOG_LEVEL: 'silent',
    });
    cleanups.push(() => instance.kill());
    const client = demo.clients.find(({ name }) => name === 'A')!;
    const token = await requestToken(instance, client.clientId, client.clientSecret!);
    return await measure({ instance, databases, token, builderId: client.builderIds[0]! });
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

async function requestToken({ origin }: Instance, client_id: string, client_secret: string): Promise<string> {
  const body = {
    grant_type: 'client_credentials',
    client_id,
    client_secret,
    audience: BASE_URL,
    scope: 'write:photos',
  };
  const response = await fetch(`${origin}/oauth/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Returns the resident memory of a process and its descendants in MiB, rounded. */
export async function readTreeResidentMib(rootPid: number): Promise<number> {
  const sizes = (await listProcessTree(rootPid)).map(async (pid) => {
    // A descendant may have ended since the tree was read.
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  });
  return Math.round((await Promise.all(sizes)).reduce((sum, kib) => sum + kib, 0) / 1024);
}

/** Samples the resident memory of a process tree. Returns the function that stops the sampling and returns the maximum in MiB. */
export function trackPeakResidentMib(pid: number): () => Promise<number> {
  let isStopped = false;
  let peak = 0;
  const sampling = (async () => {
    for (; !isStopped; await sleep(20)) peak = Math.max(peak, await readTreeResidentMib(pid));
  })();
  return async () => {
    isStopped = true;
    await sampling;
    return peak;
  };
}
