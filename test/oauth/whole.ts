import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { REGIONS, type RegionId } from '../../src/shared/regions.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { type FakeClock, fakeClock, regionalDatabase } from './service.ts';

/** One instance of the whole service, over databases that others may share. */
export interface Instance {
  app: FastifyInstance;
  databases: Databases;
  stop(): Promise<void>;
}

/** Fresh databases, and instances of the whole service on them, as many as a test wants. */
export interface Whole {
  baseUrl: string;
  databases: Databases;
  clock: FakeClock;
  /** Another instance with connections of its own, or over these databases; it listens when told the port. */
  instance(options?: { databases?: Databases; settings?: Record<string, string> }): Promise<Instance>;
  close(): Promise<void>;
}

/** @param settings for every instance; all rate limits are off unless they are set. */
export async function startWhole(settings: Record<string, string> = {}): Promise<Whole> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const [au1, us1] = await Promise.all(REGIONS.map(regionalDatabase));
  const databases: Databases = { au1: au1!.database, us1: us1!.database };
  const clock = fakeClock();
  const tokenKey = newSecret();
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-oauth-'));
  const stops: (() => Promise<void>)[] = [];
  const limitless = { RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0' };

  const instance: Whole['instance'] = async (options = {}) => {
    const env = { PORT: String(port), BASE_URL: baseUrl, DATA_DIR: folder, LOG_LEVEL: 'silent', TOKEN_KEY: tokenKey };
    const config = loadConfig({ ...env, ...limitless, ...settings, ...options.settings });
    const own = options.databases ? null : connectAgain(databases);
    const app = await buildApp(config, { databases: options.databases ?? own!, clock, tokenKey });
    const stop = async () => {
      await app.close();
      for (const region of own ? REGIONS : []) await own![region].close();
    };
    stops.push(stop);
    return { app, databases: options.databases ?? own!, stop };
  };
  const close = async () => {
    for (const stop of stops) await stop();
    await Promise.all([au1!.close(), us1!.close()]);
    await rm(folder, { recursive: true, force: true });
  };
  return { baseUrl, databases, clock, instance, close };
}

/** An instance that listens at the base address. */
export async function listening(whole: Whole): Promise<Instance> {
  const instance = await whole.instance();
  await instance.app.listen({ host: '127.0.0.1', port: Number(new URL(whole.baseUrl).port) });
  return instance;
}

const connectAgain = (databases: Databases) =>
  Object.fromEntries(
    REGIONS.map((region: RegionId) => [region, new Database(region, databases[region].url)]),
  ) as Databases;

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
