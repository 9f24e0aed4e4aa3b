import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { loadPrograms } from '../../src/dev-postgres/cluster.ts';
import { freePort } from '../support/ports.ts';
import { killProgram, startHaproxy, startProgram } from './debian-program.ts';
import type { ProofEnvironment } from './proof-environment.ts';

/** Debian's `psql` and `pg_isready`, of whatever version. */
const CLIENT_PROGRAMS = ['/usr/bin/psql', '/usr/bin/pg_isready'];
/** The source folder, also when this file runs from `dist`. */
const SOURCE = fileURLToPath(new URL('.', import.meta.url)).replace('/dist/', '/');
const NODES = 3;
const TIMEOUT_MS = 180_000;

interface Node {
  name: string;
  port: number;
  restPort: number;
  folder: string;
  /** Null after the node was killed. */
  patroni: ReturnType<typeof startProgram> | null;
}

interface Member {
  name: string;
  role: string;
  state: string;
}

/**
 * Three nodes of Patroni with synchronous replication, etcd, and HAProxy with deploy/haproxy-patroni.cfg, which leads to the primary. PostgreSQL
 * is the embedded one, because Debian's is older than the service needs. It lacks programs that Patroni calls, in whose place are own ones.
 */
export class PatroniCluster {
  readonly #port: number;
  readonly #password: string;
  readonly #nodes: Node[];
  #killed: Node | null = null;

  private constructor(port: number, password: string, nodes: Node[]) {
    this.#port = port;
    this.#password = password;
    this.#nodes = nodes;
  }

  /** Starts the cluster, which ends with the environment, and waits until it replicates. */
  static async start(environment: ProofEnvironment): Promise<PatroniCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'builder-api-patroni-'));
    environment.onClose(() => rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o711);
    await createPrograms(join(folder, 'bin'));
    const etcd = await startEtcd(environment, join(folder, 'etcd'));
    const password = randomBytes(16).toString('hex');
    const nodes: Node[] = [];
    for (let number = 1; number <= NODES; number++) {
      const name = `node-${number}`;
      const node = {
        name,
        port: await freePort(),
        restPort: await freePort(),
        folder: join(folder, name),
        patroni: null,
      };
      const owner = process.getuid!() === 0 ? ['-o', 'postgres', '-g', 'postgres'] : [];
      execFileSync('install', ['-d', '-m', '700', ...owner, node.folder]);
      await writeFile(`${node.folder}.yaml`, JSON.stringify(createConfiguration(node, etcd, password)));
      nodes.push(node);
    }
    const port = await freePort();
    const cluster = new PatroniCluster(port, password, nodes);
    environment.onClose(() => cluster.#stop());
    for (const node of nodes) startNode(node);
    const addresses = nodes.map(({ port, restPort }, index) => [
      [`POSTGRES_${index + 1}`, `127.0.0.1:${port}`],
      [`PATRONI_PORT_${index + 1}`, String(restPort)],
    ]);
    const env = { POSTGRES_ADDRESS: `127.0.0.1:${port}`, ...Object.fromEntries(addresses.flat()) };
    await startHaproxy(environment, 'haproxy-patroni.cfg', env, [port]);
    await cluster.waitUntilReplicated();
    await cluster.waitUntilWritable();
    return cluster;
  }

  /** Returns the URL of a database behind the proxy. */
  url(database: string): string {
    return `postgresql://postgres:${this.#password}@127.0.0.1:${this.#port}/${database}`;
  }

  /** Kills PostgreSQL of the primary (SIGKILL), or with `isNode` its Patroni first. */
  async killPrimary({ isNode }: { isNode: boolean }): Promise<void> {
    const leader = (await this.#listMembers()).find(({ role }) => role === 'leader');
    const node = this.#nodes.find(({ name }) => name === leader?.name);
    if (!node) throw new Error('There is no primary.');
    if (isNode) {
      await killProgram(node.patroni!.child);
      node.patroni = null;
    }
    await killPostgres(node);
    this.#killed = node;
  }

  /** Waits until a write through the proxy is acknowledged, and replicated. */
  async waitUntilWritable(): Promise<void> {
    try {
      await waitFor('A write', () =>
        this.executeOnPrimary('postgres', (client) =>
          client.query(`select pg_logical_emit_message(true, 'proof', '')`),
        ),
      );
    } catch (error) {
      const outputs = this.#nodes.map(({ name, patroni }) => `${name}:\n${patroni?.output() ?? 'killed'}`);
      throw new Error(`No primary accepts writes. What the nodes printed last:\n${outputs.join('\n')}`, {
        cause: error,
      });
    }
  }

  /** Replaces a killed node by an empty one, and waits until all run and one is the synchronous standby. */
  async waitUntilReplicated(): Promise<void> {
    const node = this.#killed;
    if (node) {
      if (node.patroni) await killProgram(node.patroni.child);
      await killPostgres(node);
      await rm(join(node.folder, 'data'), { recursive: true, force: true, maxRetries: 10 });
      startNode(node);
      this.#killed = null;
      // The list of members has its former state, perhaps that of the synchronous standby, until it has copied the data.
      await waitFor('The replaced node', async () => {
        const { status } = await fetch(`http://127.0.0.1:${node.restPort}/replica`);
        if (status !== 200) throw new Error(`It responds with ${status}.`);
      });
    }
    await waitFor('A synchronous standby', async () => {
      const members = await this.#listMembers();
      const roles = members.filter(({ state }) => ['running', 'streaming'].includes(state)).map(({ role }) => role);
      if (roles.sort().join() !== 'leader,replica,sync_standby') throw new Error(JSON.stringify(members));
    });
  }

  async executeOnPrimary<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const limits = { connectionTimeoutMillis: 2_000, query_timeout: 10_000 };
    const client = new pg.Client({ connectionString: this.url(database), ...limits });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async readVersion(): Promise<string> {
    const { rows } = await this.executeOnPrimary('postgres', (client) => client.query('show server_version'));
    return rows[0].server_version;
  }

  /** Returns the members as the first node knows them that answers. */
  async #listMembers(): Promise<Member[]> {
    for (const { restPort, patroni } of this.#nodes) {
      const url = `http://127.0.0.1:${restPort}/cluster`;
      const response = patroni && (await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => null));
      if (response?.ok) return ((await response.json()) as { members: Member[] }).members;
    }
    return [];
  }

  async #stop(): Promise<void> {
    for (const { patroni } of this.#nodes) if (patroni) await killProgram(patroni.child);
    for (const node of this.#nodes) await killPostgres(node);
  }
}

function createConfiguration({ name, port, restPort, folder }: Node, etcd: string, password: string) {
  const rest = `127.0.0.1:${restPort}`;
  const address = `127.0.0.1:${port}`;
  return {
    scope: 'builder-api',
    name,
    restapi: { listen: rest, connect_address: rest },
    etcd3: { host: etcd },
    bootstrap: {
      dcs: {
        ttl: 20,
        loop_wait: 5,
        retry_timeout: 5,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        // A primary that ended is replaced and not started again.
        primary_start_timeout: 0,
        postgresql: {
          parameters: { max_connections: 300, timezone: 'UTC', wal_keep_size: '512MB' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: join(folder, 'data'),
      bin_dir: join(folder, '../bin'),
      create_replica_methods: ['copy'],
      // There is no pg_rewind. Without this, a replica that was ahead of the new primary never follows it, and strict mode accepts no write.
      remove_data_directory_on_diverged_timelines: true,
      copy: { command: `${join(SOURCE, 'copy-replica.sh')} --password=${password}` },
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
      },
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 scram-sha-256',
        'host replication all 127.0.0.1/32 scram-sha-256',
      ],
    },
  };
}

/** Creates a folder with the programs that Patroni calls. */
async function createPrograms(folder: string): Promise<void> {
  await mkdir(folder);
  const { initdb, pg_ctl, postgres } = await loadPrograms();
  for (const program of [initdb, pg_ctl, postgres, ...CLIENT_PROGRAMS])
    await symlink(program, join(folder, basename(program)));
  const controlData = `#!/bin/sh\nexec /usr/bin/python3 ${join(SOURCE, 'pg_controldata.py')} "$@"\n`;
  await writeFile(join(folder, 'pg_controldata'), controlData, { mode: 0o755 });
}

function startNode(node: Node): void {
  node.patroni = startProgram('patroni', [`${node.folder}.yaml`], { asPostgres: true });
}

/** Starts etcd and returns its address. */
async function startEtcd(environment: ProofEnvironment, folder: string): Promise<string> {
  const [address, peer] = [`127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const { child } = startProgram('etcd', [
    `--data-dir=${folder}`,
    `--listen-client-urls=http://${address}`,
    `--advertise-client-urls=http://${address}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ]);
  environment.onClose(() => killProgram(child));
  return address;
}

/** Kills the server of a node (SIGKILL) if it runs. Its children end too. */
async function killPostgres({ folder }: Node): Promise<void> {
  const file = await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8').catch(() => null);
  if (file === null) return;
  const pid = Number(file.split('\n', 1)[0]);
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (command.includes(folder)) process.kill(pid, 'SIGKILL');
}

/** Repeats the work until it succeeds. Throws its last error after three minutes. */
async function waitFor(what: string, work: () => Promise<unknown>): Promise<void> {
  const begun = performance.now();
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (performance.now() - begun > TIMEOUT_MS) throw new Error(`${what} takes too long.`, { cause: error });
      await sleep(100);
    }
  }
}
