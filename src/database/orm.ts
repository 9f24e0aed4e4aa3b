import { ReflectMetadataProvider } from '@mikro-orm/decorators/legacy';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type Options } from '@mikro-orm/postgresql';
import { entities } from '../../entities/index.ts';
import { migrations } from './migrations/index.ts';

/** Options that every connection of ours needs: instants are read as text, which is UTC only in a UTC session. */
export const SESSION_OPTIONS = '-c timezone=UTC';

/** MikroORM over one regional database. Nothing connects before the first query. */
export function createOrm(url: string, overrides: Partial<Options> = {}): MikroORM {
  return new MikroORM({
    clientUrl: url,
    entities,
    metadataProvider: ReflectMetadataProvider,
    extensions: [Migrator],
    migrations: { migrationsList: migrations, snapshot: false, transactional: true, allOrNothing: false, silent: true },
    driverOptions: { options: SESSION_OPTIONS },
    pool: { min: 0, max: 10 },
    debug: false,
    ...overrides,
  } as Options);
}
