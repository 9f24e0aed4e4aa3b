import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { inject } from 'vitest';
import { buildApp, type ServiceDefinition } from '../../src/app.ts';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import type { DemoClient, DemoUser } from '../../src/demo/demo-file.ts';
import { splitConnections } from '../../src/limits/connection-split.ts';
import type { Network } from '../../src/network/guarded-network.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { REGIONS, type RegionId } from '../../src/shared/regions.ts';
import { createDatabase } from '../setup/database.ts';
import { useStarted } from './use-started.ts';

export const BASE_URL = 'http://localhost:4000';
export const TOKEN_KEY = Buffer.from('a key of 32 bytes for the tests.').toString('base64url');

/** A clock that does not advance by itself. */
export class FakeClock implements Clock {
  #now = Date.parse('2026-06-01T00:00:00.000Z');
  now = () => this.#now;
  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}

interface TokenOptions {
  clientId: string;
  scope: string | readonly string[];
  userId?: string;
  builderId?: string;
}

/** The whole service over fresh databases, without a socket. Created by `startService`. */
export class Service {
  constructor(
    readonly app: FastifyInstance,
    readonly databases: Databases,
    readonly clock: FakeClock,
    readonly tokens: AccessTokens,
    /** Starts another instance of the service over the same databases. `stop` stops it too. */
    readonly startInstance: () => Promise<FastifyInstance>,
    readonly stop: () => Promise<void>,
    /** Folder of the stored bytes. */
    readonly dataDir: string,
  ) {}

  /** Returns an access token as the token endpoint issues them. */
  async createToken({ clientId, scope, userId, builderId }: TokenOptions): Promise<string> {
    const claims = { sub: userId ?? clientId, client_id: clientId, scope: [scope].flat().join(' ') };
    const region = inject('demo').clients.find((client) => client.clientId === clientId)?.regionId ?? 'au1';
    return (await this.tokens.sign(region, builderId ? { ...claims, builder_id: builderId } : claims)).token;
  }

  /** Returns a client of the demo's accounts: `A`, `B`, `C`, `internal`, `us1`. */
  findDemoClient(name: string): DemoClient {
    const found = inject('demo').clients.find((client) => client.name === name);
    if (!found) throw new Error(`The demo has no client ${name}.`);
    return found;
  }

  /** Returns the first user of the demo's accounts that meets the condition. */
  findDemoUser(fits: (user: DemoUser) => boolean): DemoUser {
    const found = inject('demo').users.find(fits);
    if (!found) throw new Error('The demo has no such user.');
    return found;
  }

  /** Returns a token of a client of the demo's accounts, by default with all of its scopes. */
  tokenOf(name: string, scopes: readonly string[] = this.findDemoClient(name).scopes): Promise<string> {
    return this.createToken({ clientId: this.findDemoClient(name).clientId, scope: scopes });
  }

  request(options: InjectOptions): Promise<LightMyRequestResponse> {
    return this.app.inject(options);
  }

  /** `GET url` with a bearer token. */
  get(url: string, token: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
    return this.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${token}`, ...headers } });
  }

  async graphql(
    token: string,
    query: string,
    variables: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    const response = await this.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${token}`, ...headers },
      payload: { query, variables },
    });
    return response.json() as {
      // biome-ignore lint/suspicious/noExplicitAny: the query determines the type.
      data?: any;
      errors?: {
        message: string;
        path?: string[];
        extensions: { code: string; http: { status: number }; errors?: unknown[] };
      }[];
    };
  }

  /** Runs the work and returns the number of SQL statements that its reads sent. */
  async countStatements(region: RegionId, work: () => Promise<unknown>): Promise<number> {
    let count = 0;
    const end = this.databases[region].onStatement(() => count++);
    try {
      await work();
    } finally {
      end();
    }
    return count;
  }
}

/** Configuration of tests: no rate limits, no log. */
export const testConfig = (settings: Record<string, string>): Config =>
  loadConfig({
    BASE_URL,
    TOKEN_KEY,
    LOG_LEVEL: 'silent',
    RATE_LIMIT_API: '0',
    RATE_LIMIT_SYNC: '0',
    RATE_LIMIT_TOKEN: '0',
    ...settings,
  });

/** Few pipelined connections, each of which costs as much as several requests: to open, and to plan its statements. */
const CONNECTIONS = { ...splitConnections(), slowReads: 2, background: 1 };

/** Starts a service for one test file: fresh databases with the rows of `test/setup/company`, a fake clock, no rate limits. */
export async function startService(
  settings: Record<string, string> = {},
  { outside, ...options }: { outside?: Network; definition?: ServiceDefinition } = {},
): Promise<Service> {
  const definition = options.definition ?? (await import('./definition.ts')).definition;
  const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-data-'));
  const config = testConfig({ DATA_DIR: dataDir, ...settings });
  const made = await Promise.all(REGIONS.map((region) => createDatabase(inject('cluster').templates[region])));
  const clock = new FakeClock();
  const opened: Databases[] = [];
  const apps: FastifyInstance[] = [];
  const another = async () => {
    const databases = Object.fromEntries(
      REGIONS.map((region, index) => [region, new Database(region, made[index]!.url, CONNECTIONS)]),
    ) as Databases;
    opened.push(databases);
    apps.push(await buildApp(config, { databases, clock, tokenKeys: [TOKEN_KEY], outside, definition }));
    return apps.at(-1)!;
  };
  const app = await another();
  const tokens = new AccessTokens({ keys: [TOKEN_KEY], issuer: config.baseUrl, clock });
  const stop = async () => {
    for (const app of apps) await app.close();
    for (const databases of opened) await Promise.all(REGIONS.map((region) => databases[region].close()));
    for (const database of made) await database.drop();
    // A rendition that no request waits for any longer can still be stored.
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
  return new Service(app, opened[0]!, clock, tokens, another, stop, dataDir);
}

/** Starts a service for the tests of the file that calls it, or of its `describe`. */
export const useService = (...parameters: Parameters<typeof startService>): Service =>
  useStarted(
    () => startService(...parameters),
    (service) => service.stop(),
  );
