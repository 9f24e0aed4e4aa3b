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
import type { RegionId } from '../../src/shared/regions.ts';
import { type DataSet, loadData } from './data.ts';
import { Contestant, LoadGenerator } from './processes.ts';

export const BASE_URL = 'http://localhost:4000';

/** Progress goes beside the figures, so that `--json` can be piped. */
export const say = (line: string) => process.stderr.write(`${line}\n`);

export type Tokens = Record<'all' | 'narrow' | 'expired' | 'revoked', string>;

/** A PostgreSQL of its own with the data set, who may ask for it, and what was started over it. */
export class Stage {
  readonly #cleanups: (() => Promise<unknown>)[] = [];
  readonly #tokenKey = randomBytes(32).toString('base64url');
  #cluster!: Cluster;
  /** Folder of the cluster. */
  dataDir!: string;
  data!: DataSet;
  tokens!: Tokens;
  urls!: Record<RegionId, string>;

  /** @param timesheets rows in the largest table. */
  async prepare(timesheets: number): Promise<void> {
    const cluster = await this.openCluster();
    this.urls = { au1: await migrated(cluster, 'bench_au1'), us1: await migrated(cluster, 'bench_us1') };
    say(`Loading ${timesheets} timesheets.`);
    this.data = await loadData(this.urls.au1, { builders: 4, timesheets });
    this.tokens = signTokens(this.#tokenKey, this.data.clientId);
  }

  /** Starts PostgreSQL in the folder; without one, in a folder that goes when it ends. */
  async openCluster(folder?: string): Promise<Cluster> {
    this.dataDir = folder ? resolve(folder) : await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
    if (folder) await mkdir(this.dataDir, { recursive: true });
    else this.defer(() => rm(this.dataDir, { recursive: true, force: true }));
    // As root, PostgreSQL runs as another user, who has to pass through.
    await chmod(this.dataDir, 0o711);
    say(`Starting PostgreSQL in ${this.dataDir}.`);
    const cluster = await openCluster({ dataDir: this.dataDir });
    this.defer(() => cluster.stop());
    this.#cluster = cluster;
    return cluster;
  }

  get cluster(): Cluster {
    return this.#cluster;
  }

  /** Address of a new database of the cluster, without tables. */
  async createDatabase(name: string): Promise<string> {
    await this.#cluster.ensureDatabase(name);
    return this.#cluster.url(name);
  }

  async sign(clientId: string, scopes: readonly string[]): Promise<string> {
    const tokens = new AccessTokens({ keys: [this.#tokenKey], issuer: BASE_URL, clock: systemClock });
    return tokens.sign({ sub: clientId, client_id: clientId, scope: scopes.join(' ') }).token;
  }

  /** Starts one of the services: ours, or a module of the bench. */
  async start(
    name: string,
    module: string,
    nodeOptions: string[] = [],
    more: Record<string, string> = {},
  ): Promise<Contestant> {
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
      // One process is measured, unless a part of the bench says otherwise.
      SUPERVISE: '0',
      ...more,
    };
    const contestant = await Contestant.start(name, module, env, nodeOptions);
    this.defer(() => contestant.stop());
    return contestant;
  }

  startOurs(nodeOptions: string[] = []): Promise<Contestant> {
    return this.start('ours', '../../src/server.js', nodeOptions);
  }

  generator(): LoadGenerator {
    const generator = new LoadGenerator();
    this.defer(() => generator.stop());
    return generator;
  }

  /** What is to be done at the end; the last first. */
  defer(cleanup: () => Promise<unknown>): void {
    this.#cleanups.push(cleanup);
  }

  async close(): Promise<void> {
    for (let next = this.#cleanups.pop(); next; next = this.#cleanups.pop()) {
      await next().catch((error) => say(String(error)));
    }
  }
}

/** Address of a database of that name with all tables. */
export async function migrated(cluster: Cluster, name: string): Promise<string> {
  await cluster.ensureDatabase(name);
  const database = new Database('au1', cluster.url(name));
  await runPendingMigrations(database, 'auto');
  await database.close();
  return database.url;
}

function signTokens(key: string, clientId: string): Tokens {
  const claims = (scopes: readonly string[]) => ({ sub: clientId, client_id: clientId, scope: scopes.join(' ') });
  const service = new AccessTokens({ keys: [key], issuer: BASE_URL, clock: systemClock });
  const yesterday = new AccessTokens({
    keys: [key],
    issuer: BASE_URL,
    clock: { now: () => systemClock.now() - 86_400_000 },
  });
  const [all, narrow, expired, revoked] = [
    service.sign(claims(SCOPES)),
    service.sign(claims(['read:defects'])),
    yesterday.sign(claims(SCOPES)),
    // Of a token family that isn't there (any more).
    service.sign(claims(SCOPES), 'none'),
  ] as const;
  return { all: all.token, narrow: narrow.token, expired: expired.token, revoked: revoked.token };
}
