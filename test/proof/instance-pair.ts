import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Instance } from './instance.ts';
import type { KillablePostgres } from './killable-postgres.ts';

/** Returns the settings of production for instances on the PostgreSQL, without rate limits and logs. */
export function createSettings(postgres: KillablePostgres, baseUrl: string) {
  return {
    ...{ NODE_ENV: 'production', BASE_URL: baseUrl, LOG_LEVEL: 'silent', RATE_LIMIT_API: '0', RATE_LIMIT_TOKEN: '0' },
    TOKEN_KEY: randomBytes(32).toString('base64url'),
    DATABASE_URL_AU1: postgres.url('au1'),
    DATABASE_URL_US1: postgres.url('us1'),
    DATA_DIR: join(tmpdir(), `builder-api-proof-${process.pid}`),
  };
}

/** Starts two instances, and adds the steps that stop them and remove their folder to `undo`. */
export async function startInstancePair(
  settings: ReturnType<typeof createSettings>,
  undo: (() => unknown)[],
): Promise<[Instance, Instance]> {
  undo.push(() => rm(settings.DATA_DIR, { recursive: true, force: true }));
  const instances: [Instance, Instance] = [await Instance.start(settings), await Instance.start(settings)];
  for (const instance of instances) undo.push(() => instance.kill());
  return instances;
}
