import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { RegionId } from '../context.ts';
import type { Databases } from '../database/database.ts';
import { bringUpToDate, takeBack } from '../database/migrate.ts';
import { createOrm } from '../database/orm.ts';
import { refuse } from './refusal.ts';
import { sourceRoot } from './source-root.ts';

export interface RegionStatus {
  applied: string[];
  pending: string[];
}

type PerRegion<T> = Partial<Record<RegionId, T>>;

async function each<T>(regions: readonly RegionId[], work: (region: RegionId) => Promise<T>): Promise<PerRegion<T>> {
  const results: PerRegion<T> = {};
  for (const region of regions) results[region] = await work(region);
  return results;
}

/** Applies what is pending; answers the names per region. */
export const migrateUp = (databases: Databases, regions: readonly RegionId[]) =>
  each(regions, (region) => bringUpToDate(databases[region], 'auto'));

/** Takes back the newest migration of each region. */
export const migrateDown = (databases: Databases, regions: readonly RegionId[]) =>
  each(regions, (region) => takeBack(databases[region]));

export const migrationStatus = (databases: Databases, regions: readonly RegionId[]) =>
  each<RegionStatus>(regions, async (region) => {
    const { migrator } = databases[region].orm;
    const applied = (await migrator.getExecuted()).map(({ name }) => name);
    return { applied, pending: (await migrator.getPending()).map(({ name }) => name) };
  });

/**
 * Writes a migration that brings the committed snapshot to what the entities declare now, and the new snapshot. Needs no
 * database. Answers null when the entities declare nothing new.
 */
export async function createMigration(name: string, folder?: string) {
  if (!/^[a-z][a-z0-9-]{0,59}$/.test(name)) refuse('NAME', `"${name}" must be lower-case words with hyphens between`);
  const path = folder ?? join(await sourceRoot(), 'src', 'database', 'migrations');
  await access(join(path, 'schema.json')).catch(() => refuse('migrate create', `there is no schema.json in ${path}`));
  const orm = createOrm('postgresql://localhost/none', {
    migrations: {
      ...{ path, pathTs: path, glob: '[0-9]*.ts', emit: 'ts', snapshot: true, snapshotName: 'schema', silent: true },
      fileName: (timestamp: string) => `${timestamp}-${name}`,
    },
  });
  try {
    const { fileName, code, diff } = await orm.migrator.create(undefined, false, false, name.replaceAll('-', '_'));
    if (!fileName) return null;
    const className = /class (\w+)/.exec(code)![1]!;
    return { file: join(path, fileName), className, import: `./${fileName}`, statements: diff.up };
  } finally {
    await orm.close();
  }
}
