import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SCOPES } from '../../schema/scopes.ts';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { Database } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { type Cluster, openCluster } from '../../src/dev-postgres/cluster.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { mapRegions, type RegionId } from '../../src/shared/regions.ts';
import { type BenchData, loadBenchData } from './bench-data.ts';
import { LoadGenerator, ServiceProcess } from './processes.ts';

export const BASE_URL = 'http://localhost:4000';

/** Writes a line to standard error. Standard output contains the figures only, so that `--json` can be piped. */
export const logProgress = (line: string) => process.stderr.write(`${line}\n`);

/** Access tokens: with all scopes, with one scope, and two that are invalid. */
export type Tokens = Record<'all' | 'narrow' | 'expired' | 'revoked', string>;

/** A PostgreSQL cluster with the bench data, access tokens, and the processes that a part starts. `close` stops all of them. */
export class BenchEnvironment {
  readonly #cleanups: (() => Promise<unknown>)[] = [];
  readonly #tokenKey = randomBytes(32).toString('base64url');
  #cluster!: Cluster;
  /** Data folder of the cluster. */
  dataDir!: string;
  data!: BenchData;
  tokens!: Tokens;
  urls!: Record<RegionId, string>;

  /**
   * Starts PostgreSQL, loads the data and signs the tokens.
   *
   * @param timesheets Rows in the largest table.
   */
  async prepare(timesheets: number): Promise<void> {
    const cluster = await this.openCluster();
    this.urls = {
      au1: await createMigratedDatabase(cluster, 'bench_au1'),
      us1: await createMigratedDatabase(cluster, 'bench_us1'),
    };
    logProgress(`Loading ${timesheets} timesheets.`);
    this.data = await loadBenchData(this.urls.au1, { builders: 4, timesheets });
    this.tokens = signTokens(this.#tokenKey, this.data.clientId);
  }

  /** Starts PostgreSQL in the folder; without one, in a temporary folder that `close` removes. */
  async openCluster(folder?: string): Promise<Cluster> {
    this.dataDir = folder ? resolve(folder) : await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
    if (folder) await mkdir(this.dataDir, { recursive: true });
    else this.onClose(() => rm(this.dataDir, { recursive: true, force: true }));
    // As root, PostgreSQL runs as another user, who needs access to the path.
    await chmod(this.dataDir, 0o711);
    logProgress(`Starting PostgreSQL in ${this.dataDir}.`);
    const cluster = await openCluster({ dataDir: this.dataDir });
    this.onClose(() => cluster.stop());
    this.#cluster = cluster;
    return cluster;
  }

  get cluster(): Cluster {
    return this.#cluster;
  }

  /** Creates an empty database in the cluster and returns its URL. */
  async createDatabase(name: string): Promise<string> {
    await this.#cluster.ensureDatabase(name);
    return this.#cluster.url(name);
  }

  /** Returns an access token of the client with the scopes, for each region. */
  signRegionalTokens(clientId: string, scopes: readonly string[]): Record<RegionId, string> {
    const tokens = new AccessTokens({ keys: [this.#tokenKey], issuer: BASE_URL, clock: systemClock });
    const claims = { sub: clientId, client_id: clientId, scope: scopes.join(' ') };
    return mapRegions((region) => tokens.sign(region, claims).token);
  }

  /**
   * Starts a service over the databases of the environment.
   *
   * @param module Module of the service, relative to this folder, or a URL.
   * @param settings Environment variables over the defaults.
   */
  async start(
    name: string,
    module: string,
    nodeOptions: string[] = [],
    settings: Record<string, string> = {},
  ): Promise<ServiceProcess> {
    const env = {
      NODE_ENV: 'production',
      BASE_URL,
      DATA_DIR: join(this.dataDir, 'service'),
      TOKEN_KEY: this.#tokenKey,
      DATABASE_URL_AU1: this.urls.au1,
      DATABASE_URL_US1: this.urls.us1,
      RATE_LIMIT_API: '0',
      RATE_LIMIT_SYNC: '0',
      RATE_LIMIT_TOKEN: '0',
      LOG_LEVEL: 'warn',
      // A single process is measured unless the part sets another value.
      WORKERS: '1',
      ...settings,
    };
    const service = await ServiceProcess.start(name, module, env, nodeOptions);
    this.onClose(() => service.stop());
    return service;
  }

  /** Starts the service of this repository. */
  startService(nodeOptions: string[] = []): Promise<ServiceProcess> {
    return this.start('ours', '../../src/server.js', nodeOptions);
  }

  createLoadGenerator(): LoadGenerator {
    const generator = new LoadGenerator();
    this.onClose(() => generator.stop());
    return generator;
  }

  /** Registers a function that `close` calls, in reverse order of registration. */
  onClose(cleanup: () => Promise<unknown>): void {
    this.#cleanups.push(cleanup);
  }

  async close(): Promise<void> {
    for (let cleanup = this.#cleanups.pop(); cleanup; cleanup = this.#cleanups.pop()) {
      await cleanup().catch((error) => logProgress(String(error)));
    }
  }
}

/** Creates a database with all tables and returns its URL. */
export async function createMigratedDatabase(cluster: Cluster, name: string): Promise<string> {
  await cluster.ensureDatabase(name);
  const database = new Database('au1', cluster.url(name));
  await runPendingMigrations(database, 'auto');
  await database.close();
  return database.url;
}

function signTokens(key: string, clientId: string): Tokens {
  const claims = (scopes: readonly string[]) => ({ sub: clientId, client_id: clientId, scope: scopes.join(' ') });
  const currentTokens = new AccessTokens({ keys: [key], issuer: BASE_URL, clock: systemClock });
  const expiredTokens = new AccessTokens({
    keys: [key],
    issuer: BASE_URL,
    clock: { now: () => systemClock.now() - 86_400_000 },
  });
  const [all, narrow, expired, revoked] = [
    currentTokens.sign('au1', claims(SCOPES)),
    currentTokens.sign('au1', claims(['read:defects'])),
    expiredTokens.sign('au1', claims(SCOPES)),
    // The token family does not exist.
    currentTokens.sign('au1', claims(SCOPES), 'none'),
  ] as const;
  return { all: all.token, narrow: narrow.token, expired: expired.token, revoked: revoked.token };
}
