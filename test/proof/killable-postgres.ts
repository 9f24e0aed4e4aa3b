import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { type Cluster, openCluster } from '../../src/dev-postgres/cluster.ts';
import { findRunningServer } from '../../src/dev-postgres/postmaster.ts';
import { REGIONS } from '../../src/shared/regions.ts';

/**
 * A PostgreSQL server that can be killed and started again. Each start takes a free port, so that clients connect to a proxy whose port
 * does not change.
 */
export class KillablePostgres {
  readonly #proxy: Server;
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  #ownsFolder = true;
  #cluster: Cluster;

  private constructor(
    readonly dataDir: string,
    proxy: Server,
    cluster: Cluster,
  ) {
    this.#proxy = proxy;
    this.#port = (proxy.address() as AddressInfo).port;
    this.#cluster = cluster;
    proxy.on('connection', (socket) => this.#forward(socket));
  }

  /**
   * Starts a server that is durable as in production.
   *
   * @param folder Folder of the data, which is kept; a temporary one by default.
   */
  static async start(folder?: string): Promise<KillablePostgres> {
    const dataDir = folder ?? (await mkdtemp(join(tmpdir(), 'builder-api-proof-')));
    // When this process is root, PostgreSQL runs as another user, which needs access to the folder.
    await chmod(dataDir, 0o711);
    const cluster = await openCluster({ dataDir });
    const proxy = createServer().listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const postgres = new KillablePostgres(dataDir, proxy, cluster);
    postgres.#ownsFolder = folder === undefined;
    return postgres;
  }

  async createDatabase(name: string): Promise<string> {
    await this.#cluster.ensureDatabase(name);
    return this.url(name);
  }

  /** Creates a database with all tables for each region. The caller closes them. */
  async createRegionDatabases(): Promise<Databases> {
    const opened = REGIONS.map(async (region) => {
      const database = new Database(region, await this.createDatabase(region));
      await runPendingMigrations(database, 'auto');
      return [region, database] as const;
    });
    return Object.fromEntries(await Promise.all(opened)) as Databases;
  }

  url(database: string): string {
    const url = new URL(this.#cluster.url(database));
    url.port = String(this.#port);
    return url.href;
  }

  /** Returns the URL of a database without the proxy. It changes with each start. */
  directUrl(database: string): string {
    return this.#cluster.url(database);
  }

  /** Kills the server process (SIGKILL), as the kernel does without memory. Its children exit too. */
  async kill(): Promise<void> {
    const server = await findRunningServer(this.dataDir);
    if (!server) return;
    process.kill(server.pid, 'SIGKILL');
    while (await findRunningServer(this.dataDir)) await sleep(10);
  }

  /** Shuts the server down; `restart` starts it again. */
  async stop(): Promise<void> {
    await this.#cluster.stop();
  }

  /** Starts the server on the existing data, which it recovers. */
  async restart(): Promise<void> {
    await this.#cluster.stop();
    this.#cluster = await openCluster({ dataDir: this.dataDir });
  }

  async isRunning(): Promise<boolean> {
    return (await findRunningServer(this.dataDir)) !== undefined;
  }

  /** Suspends the server process and its children (SIGSTOP): connections are accepted without a response. */
  async suspend(): Promise<void> {
    for (const pid of await this.#listProcesses()) process.kill(pid, 'SIGSTOP');
  }

  async resume(): Promise<void> {
    for (const pid of await this.#listProcesses()) process.kill(pid, 'SIGCONT');
  }

  /** Closes all connections and rejects new ones. */
  rejectConnections(): void {
    this.#proxy.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async acceptConnections(): Promise<void> {
    this.#proxy.listen(this.#port, '127.0.0.1');
    await once(this.#proxy, 'listening');
  }

  async #listProcesses(): Promise<number[]> {
    const server = await findRunningServer(this.dataDir);
    if (!server) return [];
    const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(server.pid)]);
    return [server.pid, ...stdout.trim().split(/\s+/).map(Number)];
  }

  async remove(): Promise<void> {
    this.#proxy.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.#cluster.stop();
    if (this.#ownsFolder) await rm(this.dataDir, { recursive: true, force: true });
  }

  #forward(socket: Socket): void {
    const server = connect(Number(new URL(this.#cluster.url('postgres')).port), '127.0.0.1');
    for (const [one, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      this.#sockets.add(one);
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        this.#sockets.delete(one);
      });
      one.pipe(other);
    }
  }
}
