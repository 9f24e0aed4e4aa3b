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
 * A PostgreSQL of one's own that can be killed and started again, under an address that stays: connections go through a
 * port of ours, because each start takes a free one.
 */
export class MortalPostgres {
  readonly #door: Server;
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  #ownsFolder = true;
  #cluster: Cluster;

  private constructor(
    readonly dataDir: string,
    door: Server,
    cluster: Cluster,
  ) {
    this.#door = door;
    this.#port = (door.address() as AddressInfo).port;
    this.#cluster = cluster;
    door.on('connection', (socket) => this.#lead(socket));
  }

  /**
   * With the settings of production: what it acknowledges is on the disk.
   *
   * @param folder for its data, which stays; one of its own, which goes with it, when none is given.
   */
  static async start(folder?: string): Promise<MortalPostgres> {
    const dataDir = folder ?? (await mkdtemp(join(tmpdir(), 'builder-api-proof-')));
    // As root, PostgreSQL runs as another user, who has to pass through.
    await chmod(dataDir, 0o711);
    const cluster = await openCluster({ dataDir });
    const door = createServer().listen(0, '127.0.0.1');
    await once(door, 'listening');
    const postgres = new MortalPostgres(dataDir, door, cluster);
    postgres.#ownsFolder = folder === undefined;
    return postgres;
  }

  async createDatabase(name: string): Promise<string> {
    await this.#cluster.ensureDatabase(name);
    return this.url(name);
  }

  /** A database with all tables for each region, to be closed by who asked. */
  async openRegions(): Promise<Databases> {
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

  /** The server's own address, without this process in between. It changes with each start. */
  directUrl(database: string): string {
    return this.#cluster.url(database);
  }

  /** SIGKILL to the server process, as from the kernel when memory ends; its children follow. */
  async kill(): Promise<void> {
    const server = await findRunningServer(this.dataDir);
    if (!server) return;
    process.kill(server.pid, 'SIGKILL');
    while (await findRunningServer(this.dataDir)) await sleep(10);
  }

  /** Stops it as an operator does; `restart` starts it again. */
  async stop(): Promise<void> {
    await this.#cluster.stop();
  }

  /** Starts it on what it left; it recovers by itself. */
  async restart(): Promise<void> {
    await this.#cluster.stop();
    this.#cluster = await openCluster({ dataDir: this.dataDir });
  }

  /** Whether the server process is there. */
  async isRunning(): Promise<boolean> {
    return (await findRunningServer(this.dataDir)) !== undefined;
  }

  /** SIGSTOP to the server process and all its children: it takes connections, and answers nothing. */
  async hang(): Promise<void> {
    for (const pid of await this.#processes()) process.kill(pid, 'SIGSTOP');
  }

  async wake(): Promise<void> {
    for (const pid of await this.#processes()) process.kill(pid, 'SIGCONT');
  }

  /** Ends all connections and takes no new ones, as a server that is away. */
  refuse(): void {
    this.#door.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async accept(): Promise<void> {
    this.#door.listen(this.#port, '127.0.0.1');
    await once(this.#door, 'listening');
  }

  async #processes(): Promise<number[]> {
    const server = await findRunningServer(this.dataDir);
    if (!server) return [];
    const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(server.pid)]);
    return [server.pid, ...stdout.trim().split(/\s+/).map(Number)];
  }

  async remove(): Promise<void> {
    this.#door.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.#cluster.stop();
    if (this.#ownsFolder) await rm(this.dataDir, { recursive: true, force: true });
  }

  #lead(socket: Socket): void {
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
