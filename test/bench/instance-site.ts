import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { loadDemoInto } from '../../src/demo/load.ts';
import { openCluster } from '../../src/dev-postgres/cluster.ts';
import { Instance } from '../proof/instance.ts';
import { startSwift } from '../support/swift.ts';
import { processTree } from './processes.ts';

export const BASE_URL = 'http://localhost:4000';

export type Store = 'local' | 's3';

export interface InstanceSite {
  instance: Instance;
  databases: Databases;
  /** Of a client that may write photos of the builder. */
  token: string;
  builderId: string;
}

/** Runs the work with one instance of the service over databases with the demo data. */
export async function withInstance<T>(store: Store, work: (site: InstanceSite) => Promise<T>): Promise<T> {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const folder = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    const cluster = await openCluster({ dataDir: folder });
    undo.push(() => cluster.stop());
    const databases = {} as Databases;
    for (const region of ['au1', 'us1'] as const) {
      await cluster.ensureDatabase(region);
      databases[region] = new Database(region, cluster.url(region));
      undo.push(() => databases[region].close());
      await runPendingMigrations(databases[region], 'auto');
    }
    const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 0 });
    // The pictures of the demo data are not stored here, so that nothing can be rendered of them.
    await databases.au1.fork().execute(`update photo_rendition set status = 'FAILED'`);
    const swift = store === 's3' ? await startSwift() : null;
    if (swift) undo.push(() => swift.stop());
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
    undo.push(() => instance.kill());
    const client = demo.clients.find(({ name }) => name === 'A')!;
    const token = await tokenOf(instance, client.clientId, client.clientSecret!);
    return await work({ instance, databases, token, builderId: client.builderIds[0]! });
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

async function tokenOf({ origin }: Instance, client_id: string, client_secret: string): Promise<string> {
  const body = {
    grant_type: 'client_credentials',
    client_id,
    client_secret,
    audience: BASE_URL,
    scope: 'write:photos',
  };
  const answer = await fetch(`${origin}/oauth/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

export async function residentMib(pid: number): Promise<number> {
  const sizes = (await processTree(pid)).map(async (each) => {
    // A child may have ended since.
    const status = await readFile(`/proc/${each}/status`, 'utf8').catch(() => '');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  });
  return Math.round((await Promise.all(sizes)).reduce((sum, kib) => sum + kib, 0) / 1024);
}

/** Looks often at the resident memory until the function is called that it returns, which answers the most that it saw. */
export function watchResidentMib(pid: number): () => Promise<number> {
  let over = false;
  let peak = 0;
  const looking = (async () => {
    for (; !over; await sleep(20)) peak = Math.max(peak, await residentMib(pid));
  })();
  return async () => {
    over = true;
    await looking;
    return peak;
  };
}
