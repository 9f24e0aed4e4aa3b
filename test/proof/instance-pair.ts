import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Instance } from './instance.ts';
import type { MortalPostgres } from './postgres.ts';

/** Returns the settings of production for instances over the PostgreSQL, without rate limits and without a log. */
export function createSettings(postgres: MortalPostgres, baseUrl: string) {
  return {
    ...{ NODE_ENV: 'production', BASE_URL: baseUrl, LOG_LEVEL: 'silent', RATE_LIMIT_API: '0', RATE_LIMIT_TOKEN: '0' },
    TOKEN_KEY: randomBytes(32).toString('base64url'),
    DATABASE_URL_AU1: postgres.url('au1'),
    DATABASE_URL_US1: postgres.url('us1'),
    DATA_DIR: join(tmpdir(), `builder-api-proof-${process.pid}`),
  };
}

/** Starts two instances, and adds to `undo` what ends them and removes their folder. */
export async function startInstancePair(
  settings: ReturnType<typeof createSettings>,
  undo: (() => unknown)[],
): Promise<[Instance, Instance]> {
  undo.push(() => rm(settings.DATA_DIR, { recursive: true, force: true }));
  const instances: [Instance, Instance] = [await Instance.start(settings), await Instance.start(settings)];
  for (const instance of instances) undo.push(() => instance.kill());
  return instances;
}
