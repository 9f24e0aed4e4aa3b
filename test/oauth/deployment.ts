import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { mapRegions, REGIONS } from '../../src/shared/regions.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { definition } from '../support/definition.ts';
import { freePort } from '../support/ports.ts';
import { createRegionalDatabase, createSettableClock, type SettableClock } from './service.ts';

/** One instance of the complete service. */
export interface Instance {
  app: FastifyInstance;
  databases: Databases;
  stop(): Promise<void>;
}

/** New databases, and any number of instances of the complete service that use them. */
export interface TestDeployment {
  baseUrl: string;
  databases: Databases;
  clock: SettableClock;
  /** Starts an instance with the given databases, by default with separate connections to those of the deployment. */
  startInstance(options?: { databases?: Databases; settings?: Record<string, string> }): Promise<Instance>;
  close(): Promise<void>;
}

/** @param settings environment variables of every instance; without them all rate limits are off */
export async function startDeployment(settings: Record<string, string> = {}): Promise<TestDeployment> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const [au1, us1] = await Promise.all(REGIONS.map(createRegionalDatabase));
  const databases: Databases = { au1: au1!.database, us1: us1!.database };
  const clock = createSettableClock();
  const tokenKey = newSecret();
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-oauth-'));
  const stops: (() => Promise<void>)[] = [];
  const withoutRateLimits = { RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0' };

  const startInstance: TestDeployment['startInstance'] = async (options = {}) => {
    const env = { PORT: String(port), BASE_URL: baseUrl, DATA_DIR: folder, LOG_LEVEL: 'silent', TOKEN_KEY: tokenKey };
    const config = loadConfig({ ...env, ...withoutRateLimits, ...settings, ...options.settings });
    const ownDatabases = options.databases ? null : connectSeparately(databases);
    const instanceDatabases = options.databases ?? ownDatabases!;
    const app = await buildApp(config, {
      databases: instanceDatabases,
      clock,
      tokenKeys: config.tokenKeys!,
      definition,
    });
    const stop = async () => {
      await app.close();
      for (const region of ownDatabases ? REGIONS : []) await ownDatabases![region].close();
    };
    stops.push(stop);
    return { app, databases: instanceDatabases, stop };
  };
  const close = async () => {
    for (const stop of stops) await stop();
    await Promise.all([au1!.close(), us1!.close()]);
    // Work that no request waits for any longer can still write a file.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return { baseUrl, databases, clock, startInstance, close };
}

/** Starts an instance that listens at the base URL. */
export async function startListening(deployment: TestDeployment): Promise<Instance> {
  const instance = await deployment.startInstance();
  await instance.app.listen({ host: '127.0.0.1', port: Number(new URL(deployment.baseUrl).port) });
  return instance;
}

const connectSeparately = (databases: Databases): Databases =>
  mapRegions((region) => new Database(region, databases[region].url));
