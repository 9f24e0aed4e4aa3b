import { ReflectMetadataProvider } from '@mikro-orm/decorators/legacy';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type Options } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { entities } from '../../entities/index.ts';
import { migrations } from './migrations/index.ts';
import { REQUEST_SETTINGS, toPoolConfig } from './pool/session-settings.ts';
import { CLIENT_CONFIG } from './pool/timeouts.ts';

/** MikroORM over one regional database. Nothing connects before the first query. */
export function createOrm(url: string, overrides: Partial<Options> = {}): MikroORM {
  return new MikroORM({
    clientUrl: url,
    entities,
    metadataProvider: ReflectMetadataProvider,
    extensions: [Migrator],
    migrations: { migrationsList: migrations, snapshot: false, transactional: true, allOrNothing: false, silent: true },
    driverOptions: { ...toPoolConfig(REQUEST_SETTINGS), ...CLIENT_CONFIG, onPoolCreated: releaseLostConnections },
    pool: { min: 0, max: 12 },
    debug: false,
    ...overrides,
  } as Options);
}

/**
 * Kysely keeps a connection for good when `begin`, `commit` or `rollback` fails, as they do on one that is lost, so that the pool
 * would be empty after ten of them. Here a lost connection leaves the pool by itself, and its holder may release it once more.
 */
export function releaseLostConnections(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    // Its loss is told by the statement that is under way; one that nobody uses, or that is about to end, needs no word of it.
    client.on('error', () => undefined);
    let release: pg.PoolClient['release'] | undefined;
    Object.defineProperty(client, 'release', {
      // The pool sets it anew each time that the client is taken.
      set: (given: pg.PoolClient['release']) => {
        release = given;
      },
      get: () => (error?: Error | boolean) => {
        const once = release;
        release = undefined;
        once?.(error);
      },
    });
    client.on('end', () => client.release(true));
  });
}
