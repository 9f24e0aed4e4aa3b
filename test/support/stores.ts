import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { loadConfig } from '../../src/config.ts';
import { installErrorHandler } from '../../src/http/errors.ts';
import { registerStorage, type SignedUrlLimits } from '../../src/http/storage/signed-urls.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';
import { openStorages, type Storages } from '../../src/storage/storage.ts';
import { BASE_URL, type Service, TOKEN_KEY } from './harness.ts';
import { freePort } from './ports.ts';

/** A real store, used over HTTP as clients use it. */
export interface TestStore {
  storages: Storages;
  /** Opens the same store with a clock that is some seconds behind, so that its signed URLs expire earlier. */
  openWithClockBehind(seconds: number): Storages;
  /** Origin of the service's own routes. */
  baseUrl: string;
  folder: string;
  stop(): Promise<void>;
}

const SECRET = Buffer.alloc(32, 9).toString('base64url');

/** Serves the `/storage` routes over the store of the settings. */
export async function startStore(
  settings: Record<string, string> = {},
  limits: SignedUrlLimits = { shares: createFairShares() },
): Promise<TestStore> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-store-'));
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const config = loadConfig({ DATA_DIR: folder, BASE_URL: baseUrl, ...settings });
  const openWithClockBehind = (seconds: number) =>
    openStorages(config, { secrets: [SECRET], clock: { now: () => Date.now() - seconds * 1000 } });
  const storages = openWithClockBehind(0);
  const app = Fastify();
  installErrorHandler(app);
  await registerStorage(app, { storages, ...limits });
  await app.listen({ port, host: '127.0.0.1' });
  const stop = async () => {
    await app.close();
    // Work that no request waits for any longer can still write a file.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return { storages, openWithClockBehind, baseUrl, folder, stop };
}

/** Opens the stores of a service that a test started. */
export const openTestStorages = ({ dataDir, clock }: Service): Storages =>
  openStorages(loadConfig({ DATA_DIR: dataDir, BASE_URL }), { secrets: [TOKEN_KEY], clock });
