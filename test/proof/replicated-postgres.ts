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
import { freePort } from './instance.ts';

/** One server, on a port that stays. */
interface Server {
  context: ClusterContext;
  port: number;
}

const SETTINGS = {
  ...{ timezone: 'UTC', max_connections: '500', shared_buffers: '256MB', wal_keep_size: '1GB' },
  // A standby that is copied under load has to be promoted at once.
  ...{ checkpoint_timeout: '60s', hot_standby_feedback: 'off' },
};

/** Ports that the servers take in turn, so that the URL of the service names all of them from the start. */
const PORTS = 3;

/** A primary and its standbys, from the programs of the embedded PostgreSQL. Nobody restarts a server that was killed. */
export class ReplicatedPostgres {
  readonly #ports: number[];
  #primary: Server;
  readonly #standbys: Server[] = [];
  /** Folders of killed servers, and of those that run. */
  readonly #folders: string[] = [];
  /** Processes that `holdReplication` has stopped. */
  readonly #held: number[] = [];
  /** Primaries that `silencePrimary` has stopped, with the ids of their processes. */
  readonly #silenced: { port: number; pids: number[] }[] = [];

  private constructor(ports: number[], primary: Server) {
    this.#ports = ports;
    this.#primary = primary;
  }

  /** Starts a primary on the data of a stopped cluster. */
  static async start(folder: string): Promise<ReplicatedPostgres> {
    const ports: number[] = [];
    while (ports.length < PORTS) ports.push(await freePort());
    const context = await createContext(folder);
    const servers = new ReplicatedPostgres(ports, { context, port: ports[0]! });
    await startOn(servers.#primary);
    return servers;
  }

  /** Returns the URL of a database with the addresses of all servers that may be its primary. */
  url(database: string): string {
    return this.#urlOf(this.#ports, database);
  }

  /** Returns the URL of a database with the addresses of the standbys. */
  replicasUrl(database: string): string {
    return this.#urlOf(
      this.#standbys.map(({ port }) => port),
      database,
    );
  }

  /** Returns the URL of a database with the address of the primary alone. */
  primaryUrl(database: string): string {
    return this.#urlOf([this.#primary.port], database);
  }

  #urlOf(ports: number[], database: string): string {
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
      // 1: files that changed while they were read, which the log repairs.
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
    const used = [this.#primary, ...this.#standbys, ...this.#silenced].map((server) => server.port);
    const free = this.#ports.filter((each) => !used.includes(each));
    const standby: Server = { context: await createContext(folder), port: free[0]! };
    this.#standbys.push(standby);
    await startOn(standby);
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

  /** SIGKILL to the primary, which is not started again. */
  async killPrimary(): Promise<void> {
    const { folder } = this.#primary.context;
    const server = await findRunningServer(folder);
    if (server) process.kill(server.pid, 'SIGKILL');
    this.#killHeldSenders();
    while (await findRunningServer(folder)) await sleep(5);
  }

  /** SIGSTOP to the primary for good: its connections stay open, new ones are accepted, and nothing is answered. */
  async silencePrimary(): Promise<void> {
    this.#silenced.push({ port: this.#primary.port, pids: await signalServer(this.#primary, 'SIGSTOP') });
  }

  /** Makes the first standby the primary. The others do not follow it. */
  async promote(): Promise<void> {
    await rm(toDataPath(this.#primary.context.folder), { recursive: true, force: true });
    this.#primary = this.#standbys.shift()!;
    await this.executeOnPrimary('postgres', (client) => client.query('select pg_promote(true, 30)'));
  }

  /** Stops the stream to the standbys without their noticing, as a network that loses packets does. */
  async holdReplication(): Promise<void> {
    const pids = await this.executeOnPrimary('postgres', async (client) => {
      const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_replication');
      return rows.map(({ pid }) => pid);
    });
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    this.#held.push(...pids);
  }

  /** SIGKILL to the senders that were stopped: they do not notice that their server is gone, and would still send what they have. */
  #killHeldSenders(): void {
    for (const pid of this.#held.splice(0)) signalProcess(pid, 'SIGKILL');
  }

  /** SIGSTOP to a standby and its processes, or SIGCONT. */
  async signalStandby(index: number, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    await signalServer(this.#standbys[index]!, signal);
  }

  async restartStandby(index: number): Promise<void> {
    const standby = this.#standbys[index]!;
    await stopServer(standby.context);
    await startOn(standby);
  }

  async executeOnStandby<T>(index: number, database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    return withClient(this.#urlOf([this.#standbys[index]!.port], database), work);
  }

  async executeOnPrimary<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    return withClient(this.primaryUrl(database), work);
  }

  async stop(): Promise<void> {
    this.#killHeldSenders();
    for (const pid of this.#silenced.flatMap(({ pids }) => pids)) signalProcess(pid, 'SIGKILL');
    for (const { context } of [...this.#standbys, this.#primary]) await stopServer(context);
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }
}

/** Sends a signal to a server and then to its processes, so that it starts no others meanwhile. Returns their ids. */
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
    // It has ended.
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
  return { folder, programs, user: await resolvePostgresUser(folder, programs), password };
}

async function startOn({ context, port }: Server): Promise<void> {
  const outcome = await startServer(context, SETTINGS, { port });
  if ('reason' in outcome) throw new Error(`PostgreSQL does not start on port ${port}: ${outcome.reason}`);
}
