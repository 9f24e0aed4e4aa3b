import { ReflectMetadataProvider } from '@mikro-orm/decorators/legacy';
import { Migrator } from '@mikro-orm/migrations';
import { type MetadataStorage, MikroORM, type Options, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { entities } from '../../entities/index.ts';
import { toArrayText } from './array-text.ts';
import { bindTexts } from './bind-texts.ts';
import { migrations } from './migrations/index.ts';
import { REQUEST_SETTINGS, toPoolConfig } from './pool/session-settings.ts';
import { CLIENT_CONFIG } from './pool/timeouts.ts';
import { traceQueries } from './pool/trace-queries.ts';

/** Tables that only functions of the database use: those of the event log, one of which has partitions, and the changes of the roster. */
const UNDECLARED_TABLES = [/^event(_|$)/, 'roster_change'];

/** Names constraints as PostgreSQL does, so that the migrations need not name them. */
class PostgresNamingStrategy extends UnderscoreNamingStrategy {
  override indexName(
    table: string,
    columns: string[],
    type: 'primary' | 'foreign' | 'unique' | 'index' | 'sequence' | 'check' | 'default',
  ) {
    const suffix = { foreign: 'fkey', unique: 'key' }[type as string];
    return suffix ? [table, ...columns, suffix].join('_') : super.indexName(table, columns, type);
  }
}

/** Metadata of the entities, which all databases share: their discovery takes 40 ms. */
let sharedMetadata: MetadataStorage | undefined;

/**
 * Returns MikroORM for one regional database. It connects at the first query.
 *
 * @param onPoolCreated Receives the pool of connections when the first query creates it.
 */
export function createOrm(
  url: string,
  overrides: Partial<Options> = {},
  onPoolCreated: (pool: pg.Pool) => void = () => undefined,
): MikroORM {
  const { driverOptions, ...options } = overrides;
  const metadata = options.entities ? undefined : sharedMetadata;
  const orm = new MikroORM({
    clientUrl: url,
    entities,
    metadataProvider: ReflectMetadataProvider,
    namingStrategy: PostgresNamingStrategy,
    extensions: [Migrator],
    migrations: { migrationsList: migrations, snapshot: false, transactional: true, allOrNothing: false, silent: true },
    driverOptions: {
      // With its parameters, which MikroORM leaves out.
      connectionString: url,
      ...(driverOptions ?? {
        ...toPoolConfig(REQUEST_SETTINGS),
        ...CLIENT_CONFIG,
        onPoolCreated: (pool: pg.Pool) => {
          releaseLostConnections(pool);
          pool.on('connect', traceQueries);
          onPoolCreated(pool);
        },
      }),
    },
    // Functions are written in migrations; without this the comparison of schemas would drop them.
    schemaGenerator: { skipTables: UNDECLARED_TABLES, ignoreRoutines: true },
    debug: false,
    discovery: { skipSyncDiscovery: metadata !== undefined },
    ...options,
  } as Options);
  if (metadata) useMetadata(orm, metadata);
  else if (!options.entities) sharedMetadata = orm.getMetadata();
  bindTexts(orm);
  const platform = orm.em.getPlatform();
  // Its own does not quote the text `null`, which would be none.
  platform.marshallArray = toArrayText;
  const converter = platform.getExceptionConverter();
  const convert = converter.convertException.bind(converter);
  // The detail has values of a row. It would be a part of the message, which is logged and printed.
  converter.convertException = (error) => convert(Object.assign(error, { detail: undefined }));
  return orm;
}

/** Completes MikroORM that has discovered no entities, as its constructor does. `orm.getMetadata()` stays undefined. */
function useMetadata(orm: MikroORM, metadata: MetadataStorage): void {
  orm.driver.setMetadata(metadata);
  // Properties that are read-only for TypeScript. `global` rejects requests that do not fork it.
  Object.assign(orm, { em: Object.assign(orm.driver.createEntityManager(), { global: true }) });
}

/**
 * Makes the pool drop lost connections. Kysely never releases a connection whose `begin`, `commit` or `rollback` fails, so that lost
 * connections would exhaust the pool. A lost connection releases itself here, and a second release by its user has no effect.
 */
export function releaseLostConnections(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    let release: pg.PoolClient['release'] | undefined;
    Object.defineProperty(client, 'release', {
      // The pool sets `release` each time that it hands out the client.
      set: (value: pg.PoolClient['release']) => {
        release = value;
      },
      get: () => (error?: Error | boolean) => {
        const releaseOnce = release;
        release = undefined;
        releaseOnce?.(error);
      },
    });
    client.on('end', () => client.release(true));
  });
}
