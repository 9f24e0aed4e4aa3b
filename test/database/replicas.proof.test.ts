import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { exportFolder } from '../../src/data-transfer/export.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { MAX_LAG_MS } from '../../src/database/replicas/replica-set.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import type { DemoFile } from '../../src/demo/demo-file.ts';
import { openCluster } from '../../src/dev-postgres/cluster.ts';
import { exportPerson } from '../../src/domain/privacy/export-person.ts';
import type { SnapshotWriter } from '../../src/domain/snapshots/write-snapshot.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { ReplicatedPostgres } from '../proof/replicated-postgres.ts';
import { addStaff, signInToConsole } from '../support/console.ts';
import { numberPendingEvents } from '../support/events.ts';
import { BASE_URL, type Service, TOKEN_KEY, testConfig } from '../support/harness.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { createSnapshotWriter, runSnapshots } from '../support/snapshots.ts';

let folder: string;
let servers: ReplicatedPostgres;
let databases: Databases;
let app: FastifyInstance;
let demo: DemoFile;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-replicas-'));
  await chmod(folder, 0o711);
  const cluster = await openCluster({ dataDir: folder });
  databases = {} as Databases;
  for (const region of REGIONS) {
    await cluster.ensureDatabase(region);
    databases[region] = new Database(region, cluster.url(region));
    await runPendingMigrations(databases[region], 'auto');
  }
  demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 10 });
  for (const region of REGIONS) await databases[region].close();
  await cluster.stop();
  servers = await ReplicatedPostgres.start(folder);
  await servers.executeOnPrimary('au1', (client) =>
    client.query('create table proof_row as select generate_series(1, 1000) as id'),
  );
  await servers.addStandby({ synchronous: false });
  for (const region of REGIONS) {
    databases[region] = new Database(region, servers.primaryUrl(region), undefined, [servers.replicasUrl(region)]);
  }
  const config = testConfig({ DATA_DIR: join(folder, 'data') });
  app = await buildApp(config, { databases, clock: systemClock, tokenKeys: [TOKEN_KEY] });
});

afterAll(async () => {
  await app?.close();
  for (const region of REGIONS) await databases?.[region].close();
  await servers?.stop();
  await rm(folder, { recursive: true, force: true });
});

const PORT = { name: 'proof.port', text: 'select inet_server_port()' };

/** Port of the server that answers a read which a standby may answer. */
const readPort = async () => Number((await databases.au1.onReplica().runner.run(PORT, []))[0]![0]);
const portOf = (url: string) => Number(new URL(url).port);
const standbyPort = () => portOf(servers.replicasUrl('au1'));

const executeOnStandby = (sql: string) => servers.executeOnStandby(0, 'postgres', (client) => client.query(sql));
const countsOf = (server: string) => databases.au1.replicas!.counts.get(server) ?? { ok: 0, failed: 0 };

/** Waits until the standby is usable, or no longer is. */
const waitForUse = (isUsed: boolean) =>
  vi.waitFor(
    async () => {
      await databases.au1.replicas!.measure();
      expect(databases.au1.replicas!.choose() !== null).toBe(isUsed);
    },
    { timeout: 30_000, interval: 100 },
  );

beforeEach(() => waitForUse(true), 40_000);

const graphql = async (name: string, query = '{ builders { data { id name } } }') => {
  const headers = await createAuthorization(name);
  return (await app.inject({ method: 'POST', url: '/graphql', headers, payload: { query } })).json();
};

/** Runs the work while the standby applies nothing; it remains usable for the first seconds. */
async function withPausedReplay(work: () => Promise<void>) {
  await executeOnStandby('select pg_wal_replay_pause()');
  try {
    await work();
  } finally {
    await executeOnStandby('select pg_wal_replay_resume()');
  }
}

const OPERATOR = { actor: { type: 'OPERATOR', id: 'test' }, origin: {} } as const;

const createAuthorization = async (name: string) => {
  const { clientId, scopes } = demo.clients.find((client) => client.name === name)!;
  const tokens = new AccessTokens({ keys: [TOKEN_KEY], issuer: BASE_URL, clock: systemClock });
  const { token } = tokens.sign('au1', { sub: clientId, client_id: clientId, scope: scopes.join(' ') });
  return { authorization: `Bearer ${token}` };
};

describe('a standby', () => {
  it('answers reads that need not be of this moment', async () => {
    expect(await readPort()).toBe(standbyPort());
  });

  it('answers queries of internal clients, and not those of integrators', async () => {
    const before = countsOf(databases.au1.replicas!.replicas[0]!.name).ok;
    expect((await graphql('A')).data.builders.data).not.toHaveLength(0);
    expect(countsOf(databases.au1.replicas!.replicas[0]!.name).ok).toBe(before);
    expect((await graphql('internal')).data.builders.data).not.toHaveLength(0);
    expect(countsOf(databases.au1.replicas!.replicas[0]!.name).ok).toBeGreaterThan(before);
  });

  it('does not answer where the log ends, so that no cursor of an internal client expires', async () => {
    const readFeed = async (after = '') =>
      (await graphql('internal', `{ events${after && `(after: "${after}")`} { data { type } meta { nextCursor } } }`))
        .data.events;
    await numberPendingEvents(databases.au1);
    const first = await readFeed();
    await withPausedReplay(async () => {
      await renameProject();
      await numberPendingEvents(databases.au1);
      const second = await readFeed(first.meta.nextCursor);
      expect(second.data.map(({ type }: { type: string }) => type)).toContain('project.updated');
      expect(databases.au1.replicas!.choose()).not.toBeNull();
      expect((await readFeed(second.meta.nextCursor)).data).toEqual([]);
    });
  });

  it('answers figures over days and usage of the console, and none of its records (CON-17)', async () => {
    const [project] = await databases.au1
      .fork()
      .execute<{ builder: string; id: string }[]>('select id, builder_id as builder from project order by id limit 1');
    const staff = await signInToConsole(app, await addStaff({ databases, clock: systemClock }, 'OPERATOR'));
    const readsOfStandby = async (query: string, expected: object) => {
      const before = countsOf(databases.au1.replicas!.replicas[0]!.name).ok;
      expect(await staff.query(`{ ${query} }`)).toMatchObject(expected);
      expect(databases.au1.replicas!.choose()).not.toBeNull();
      return countsOf(databases.au1.replicas!.replicas[0]!.name).ok - before;
    };
    const builder = `builderId: "${project!.builder}"`;
    const record = `project(${builder}, projectId: "${project!.id}") { name } workersOnSite(${builder}) { onSite }`;
    const figure = `hoursByWeek(${builder}, startDate: "2026-03-01", endDate: "2026-03-31") { hours }`;
    const usage = 'usageByDay(since: "2026-03-01", until: "2026-03-31") { date }';
    await withPausedReplay(async () => {
      await renameProject();
      const [{ name }] = await databases.au1
        .fork()
        .execute<[{ name: string }]>('select name from project where id = ?', [project!.id]);
      expect(await readsOfStandby(record, { data: { project: { name } } })).toBe(0);
      expect(await readsOfStandby(figure, { data: { hoursByWeek: expect.any(Array) } })).toBe(1);
      expect(await readsOfStandby(usage, { data: { usageByDay: [] } })).toBe(1);
    });
  });

  const renameProject = () =>
    databases.au1.fork().execute(`update project set name = name || '.' where id = (select min(id) from project)`);
  const renameBuilders = (name: string) =>
    servers.executeOnPrimary('au1', (client) => client.query('update builder set name = $1', [name]));
  it('is not what an export reads, which has everything that was committed before', async () => {
    await withPausedReplay(async () => {
      await renameBuilders('later');
      await exportFolder(databases.au1, join(folder, 'export'));
    });
    expect(await readFile(join(folder, 'export', 'builders.ndjson'), 'utf8')).toContain('"later"');
  });

  it('is not what the export of a person reads, which shows what was erased a moment before', async () => {
    const before = new Map(databases.au1.replicas!.counts);
    const [worker] = await databases.au1.fork().execute<{ id: string }[]>('select id from worker order by id limit 1');
    await executeOnStandby('select pg_wal_replay_pause()');
    try {
      await databases.au1.fork().execute(`update worker set full_name = 'Erased' where id = ?`, [worker!.id]);
      const context = { database: databases.au1, clock: systemClock, source: OPERATOR };
      const { records } = await exportPerson(context, [worker!.id]);
      expect(JSON.stringify(records)).toContain('"Erased"');
      expect(databases.au1.replicas!.counts).toEqual(before);
    } finally {
      await executeOnStandby('select pg_wal_replay_resume()');
    }
  });

  it('has its lag and its share in the metrics', async () => {
    await readPort();
    const metrics = (await app.inject({ url: '/metrics' })).body;
    expect(metrics).toMatch(/database_replica_lag_seconds\{region="au1",replica="127\.0\.0\.1:\d+\/au1"\} \d+\.\d/);
    expect(metrics).toMatch(/database_replica_reads_total\{region="au1",server="127[^"]+",outcome="ok"\} [1-9]/);
  });
});

describe('the primary', () => {
  it('answers while the standby lags beyond the bound', async () => {
    await executeOnStandby('select pg_wal_replay_pause()');
    try {
      await servers.executeOnPrimary('au1', (client) => client.query('update proof_row set id = id'));
      await waitForUse(false);
      expect(await readPort()).not.toBe(standbyPort());
    } finally {
      await executeOnStandby('select pg_wal_replay_resume()');
    }
  });

  it('answers what a standby that stalls has begun', async () => {
    await readPort();
    await servers.signalStandby(0, 'SIGSTOP');
    try {
      expect(await readPort()).not.toBe(standbyPort());
      expect(databases.au1.replicas!.replicas[0]!.lagMs).toBeGreaterThan(MAX_LAG_MS);
    } finally {
      await servers.signalStandby(0, 'SIGCONT');
    }
  });

  it('answers while the standby restarts', async () => {
    let isOver = false;
    const restarting = servers.restartStandby(0).finally(() => {
      isOver = true;
    });
    const ports = new Set<number>();
    while (!isOver) ports.add(await readPort());
    await restarting;
    expect(ports.size).toBeGreaterThan(0);
    expect(ports).not.toContain(Number.NaN);
  });

  it('answers a query that the standby cancels because of a conflict with recovery', async () => {
    await executeOnStandby(`alter system set max_standby_streaming_delay = '100ms'`);
    await executeOnStandby('select pg_reload_conf()');
    await waitForUse(true);
    const failedBefore = countsOf(databases.au1.replicas!.replicas[0]!.name).failed;
    const text = `with slow as materialized (select pg_sleep(case when pg_is_in_recovery() then 4 else 0 end))
      select count(*), inet_server_port() from proof_row, slow`;
    const reading = databases.au1.onReplica().slowRunner.run({ name: 'proof.slow', text }, []);
    await vi.waitFor(async () =>
      expect((await executeOnStandby(`select from pg_stat_activity where wait_event = 'PgSleep'`)).rowCount).toBe(1),
    );
    await servers.executeOnPrimary('au1', async (client) => {
      await client.query('delete from proof_row where id > 500');
      await client.query('vacuum proof_row');
    });
    const [[count, port]] = (await reading) as [string[]];
    expect([count, Number(port) === standbyPort()]).toEqual(['500', false]);
    expect(countsOf(databases.au1.replicas!.replicas[0]!.name).failed).toBe(failedBefore + 1);
    await executeOnStandby('alter system reset max_standby_streaming_delay');
    await executeOnStandby('select pg_reload_conf()');
  });
});

describe('a snapshot', () => {
  /** Writes a snapshot and calls the function before its fifth page. Returns it, and the ports of the servers of its pages. */
  async function writeSnapshot(beforePage: () => Promise<unknown>) {
    const client = demo.clients.find(({ name }) => name === 'A')!;
    const headers = await createAuthorization('A');
    const payload = { builderId: client.builderIds[0] };
    const { id } = (await app.inject({ method: 'POST', url: '/snapshots', headers, payload })).json();
    const service = { databases, clock: systemClock, dataDir: join(folder, 'data') } as unknown as Service;
    const writer = await createSnapshotWriter(service);
    const ports: number[] = [];
    const readList: SnapshotWriter['readList'] = async (database, request) => {
      if (ports.length === 5) await beforePage();
      ports.push(Number((await database.runner.run(PORT, []))[0]![0]));
      return writer.readList(database, request);
    };
    await runSnapshots({ ...writer, readList });
    const snapshot = (await app.inject({ method: 'GET', url: `/snapshots/${id}`, headers })).json();
    return { snapshot, ports: [...new Set(ports)] };
  }

  it('is read from the standby, in one transaction (SNP-8)', async () => {
    const { snapshot, ports } = await writeSnapshot(async () => undefined);
    expect(ports).toEqual([standbyPort()]);
    expect(snapshot).toMatchObject({ status: 'READY', eventCursor: expect.any(String) });
  });

  it('is read from the primary when the standby ends its transaction (SNP-8)', async () => {
    const { snapshot, ports } = await writeSnapshot(() =>
      executeOnStandby(`select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'`),
    );
    expect(ports).toEqual([standbyPort(), portOf(servers.primaryUrl('au1'))]);
    expect(snapshot).toMatchObject({ status: 'READY' });
    const [row] = await databases.au1
      .fork()
      .execute<{ attempts: number }[]>('select attempts from snapshot where id = ?', [snapshot.id]);
    expect(row!.attempts).toBe(1);
  });
});
