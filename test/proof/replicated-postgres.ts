import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { loadPrograms } from '../../src/dev-postgres/cluster.ts';
import { resolvePostgresUser } from '../../src/dev-postgres/postgres-user.ts';
import {
  type ClusterContext,
  findRunningServer,
  startServer,
  stopServer,
  toDataPath,
  toPasswordPath,
} from '../../src/dev-postgres/postmaster.ts';
import { freePort } from '../support/ports.ts';
import { PrimaryProxy } from '../support/primary-proxy.ts';

/** A server and its port, which does not change. */
interface Server {
  context: ClusterContext;
  port: number;
}

const SETTINGS = {
  ...{ timezone: 'UTC', max_connections: '500', shared_buffers: '256MB', wal_keep_size: '1GB' },
  // Short checkpoints let a standby that was copied under load be promoted immediately.
  ...{ checkpoint_timeout: '60s', hot_standby_feedback: 'off' },
};

/** Number of ports. Servers reuse them, so that the list of standbys contains all servers from the start. */
const PORTS = 3;

/** A primary and its standbys behind a proxy, with the programs of the embedded PostgreSQL. Killed servers are not restarted. */
export class ReplicatedPostgres {
  readonly #ports: number[];
  readonly #proxy: PrimaryProxy;
  #primary: Server;
  readonly #standbys: Server[] = [];
  /** Data folders of all standbys, including killed ones. */
  readonly #folders: string[] = [];
  /** Processes that `suspendReplication` has stopped. */
  readonly #suspendedSenders: number[] = [];
  /** Primaries that `suspendPrimary` has stopped, with the ids of their processes. */
  readonly #suspendedPrimaries: { port: number; pids: number[] }[] = [];

  private constructor(ports: number[], proxy: PrimaryProxy, primary: Server) {
    this.#ports = ports;
    this.#proxy = proxy;
    this.#primary = primary;
  }

  /** Starts a primary on the data of a stopped cluster. */
  static async start(folder: string): Promise<ReplicatedPostgres> {
    const ports: number[] = [];
    while (ports.length < PORTS) ports.push(await freePort());
    const context = await createContext(folder);
    const servers = new ReplicatedPostgres(ports, await PrimaryProxy.start(ports[0]!), { context, port: ports[0]! });
    await startOnPort(servers.#primary);
    return servers;
  }

  /** Returns the URL of a database behind the proxy, which leads to its primary. */
  url(database: string): string {
    return this.#createUrl([this.#proxy.port], database);
  }

  /** Returns the URL of a database with the addresses of all servers. */
  serversUrl(database: string): string {
    return this.#createUrl(this.#ports, database);
  }

  /** Returns the URL of a database with the addresses of the standbys. */
  replicasUrl(database: string): string {
    return this.#createUrl(
      this.#standbys.map(({ port }) => port),
      database,
    );
  }

  /** Returns the URL of a database with the address of the primary alone. */
  primaryUrl(database: string): string {
    return this.#createUrl([this.#primary.port], database);
  }

  #createUrl(ports: number[], database: string): string {
    const addresses = ports.map((port) => `127.0.0.1:${port}`).join();
    return `postgresql://postgres:${this.#primary.context.password}@${addresses}/${database}`;
  }

  /** Copies the running primary and starts the copy. With `synchronous`, commits wait for it from now on. */
  async addStandby({ synchronous }: { synchronous: boolean }): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'builder-api-standby-'));
    this.#folders.push(folder);
    await chmod(folder, 0o711);
    const { context, port } = this.#primary;
    await this.executeOnPrimary('postgres', async (client) => {
      await client.query(`select pg_backup_start('standby', fast => true)`);
      const [from, to] = [toDataPath(context.folder), toDataPath(folder)];
      const exclude = ['./pg_wal/*', './postmaster.pid', './postmaster.opts'].map((path) => `--exclude=${path}`);
      // tar exits with 1 when files changed while they were read, which the write-ahead log repairs.
      const copy = `mkdir -m 700 ${to} && chown --reference=${from} ${to} && { tar -C ${from} --warning=no-file-changed ${exclude.join(' ')} -cf - . || [ $? = 1 ]; } | tar -C ${to} -xpf -`;
      await promisify(execFile)('bash', ['-c', copy]);
      await promisify(execFile)('cp', ['-p', toPasswordPath(context.folder), toPasswordPath(folder)]);
      const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
      await writeFile(join(to, 'backup_label'), rows[0]!.labelfile);
      const source = `host=127.0.0.1 port=${port} user=postgres password=${context.password} application_name=standby`;
      await writeFile(join(to, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
      await writeFile(join(to, 'standby.signal'), '');
      await promisify(execFile)('chown', ['-R', `--reference=${from}`, to]);
    });
    const used = [this.#primary, ...this.#standbys, ...this.#suspendedPrimaries].map((server) => server.port);
    const free = this.#ports.filter((each) => !used.includes(each));
    const standby: Server = { context: await createContext(folder), port: free[0]! };
    this.#standbys.push(standby);
    await startOnPort(standby);
    const isStreaming = `select from pg_stat_replication where state = 'streaming'
      ${synchronous ? `and sync_state = 'sync'` : ''}`;
    await this.executeOnPrimary('postgres', async (client) => {
      if (synchronous) {
        await client.query(`alter system set synchronous_standby_names = '*'`);
        await client.query('select pg_reload_conf()');
      }
      while ((await client.query(isStreaming)).rowCount !== this.#standbys.length) await sleep(20);
    });
  }

  /** Kills the primary (SIGKILL). */
  async killPrimary(): Promise<void> {
    const { folder } = this.#primary.context;
    const server = await findRunningServer(folder);
    if (server) process.kill(server.pid, 'SIGKILL');
    this.#killSuspendedSenders();
    while (await findRunningServer(folder)) await sleep(5);
  }

  /** Suspends the primary (SIGSTOP): connections stay open and new ones are accepted, without a response. */
  async suspendPrimary(): Promise<void> {
    this.#suspendedPrimaries.push({ port: this.#primary.port, pids: await signalServer(this.#primary, 'SIGSTOP') });
  }

  /** Promotes the first standby. The others do not replicate from it. */
  async promote(): Promise<void> {
    await rm(toDataPath(this.#primary.context.folder), { recursive: true, force: true });
    this.#primary = this.#standbys.shift()!;
    await this.executeOnPrimary('postgres', (client) => client.query('select pg_promote(true, 30)'));
    this.#proxy.follow(this.#primary.port);
  }

  /** Suspends the senders of replication without closing connections, like a network that loses packets. */
  async suspendReplication(): Promise<void> {
    const pids = await this.executeOnPrimary('postgres', async (client) => {
      const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_replication');
      return rows.map(({ pid }) => pid);
    });
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    this.#suspendedSenders.push(...pids);
  }

  /** Kills the suspended senders, which would otherwise still send their buffers after the server was killed. */
  #killSuspendedSenders(): void {
    for (const pid of this.#suspendedSenders.splice(0)) signalProcess(pid, 'SIGKILL');
  }

  /** Suspends (SIGSTOP) or resumes (SIGCONT) a standby and its processes. */
  async signalStandby(index: number, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    await signalServer(this.#standbys[index]!, signal);
  }

  async restartStandby(index: number): Promise<void> {
    const standby = this.#standbys[index]!;
    await stopServer(standby.context);
    await startOnPort(standby);
  }

  async executeOnStandby<T>(index: number, database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    return withClient(this.#createUrl([this.#standbys[index]!.port], database), work);
  }

  async executeOnPrimary<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    return withClient(this.primaryUrl(database), work);
  }

  async stop(): Promise<void> {
    this.#proxy.close();
    this.#killSuspendedSenders();
    for (const pid of this.#suspendedPrimaries.flatMap(({ pids }) => pids)) signalProcess(pid, 'SIGKILL');
    for (const { context } of [...this.#standbys, this.#primary]) await stopServer(context);
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }
}

/** Sends a signal to a server and then to its child processes; a suspended server starts no others. Returns their ids. */
async function signalServer({ context }: Server, signal: NodeJS.Signals): Promise<number[]> {
  const server = await findRunningServer(context.folder);
  signalProcess(server!.pid, signal);
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(server!.pid)]);
  const children = stdout.trim().split(/\s+/).map(Number);
  for (const pid of children) signalProcess(pid, signal);
  return [server!.pid, ...children];
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has exited.
  }
}

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function createContext(folder: string): Promise<ClusterContext> {
  const programs = await loadPrograms();
  const password = (await readFile(toPasswordPath(folder), 'utf8')).trim();
  return { folder, programs, user: await resolvePostgresUser(folder), password };
}

async function startOnPort({ context, port }: Server): Promise<void> {
  const outcome = await startServer(context, SETTINGS, { port });
  if ('reason' in outcome) throw new Error(`PostgreSQL does not start on port ${port}: ${outcome.reason}`);
}
