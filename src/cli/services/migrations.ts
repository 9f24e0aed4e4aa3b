import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, Databases } from '../../database/database.ts';
import { migrations } from '../../database/migrations/index.ts';
import { createOrm } from '../../database/orm.ts';
import { findAppliedMigrations, planRollback, type RollbackPlan } from '../../database/rollback-migration.ts';
import { describeLosses, RollbackRefusedError, rollbackLast } from '../../database/run-migrations.ts';
import type { RegionId } from '../../shared/regions.ts';
import { CliError } from '../cli-error.ts';
import { forEachRegion, type PerRegion } from './database-session.ts';
import { MigrationFileGenerator, writeMigrationIndex } from './migration-files.ts';
import { findSourceRoot } from './source-root.ts';
import { requireListedSources } from './unlisted-sources.ts';

export interface RegionStatus {
  applied: string[];
  pending: string[];
}

/**
 * Rolls back the newest migration of each region. All regions are checked and confirmed before the first is changed.
 *
 * @param confirm Receives a line per region; false cancels the rollback.
 */
export async function migrateDown(
  databases: Databases,
  regions: readonly RegionId[],
  { destroyData, confirm }: { destroyData: boolean; confirm: (lines: string[]) => Promise<boolean> },
): Promise<PerRegion<string[]>> {
  const plans = new Map<RegionId, RollbackPlan>();
  for (const region of regions) {
    const plan = await planRollback(databases[region]);
    if (plan) plans.set(region, plan);
  }
  if (plans.size === 0) return forEachRegion(regions, async () => []);
  const lossy = [...plans].filter(([, { losses }]) => losses.length > 0);
  const lines = lossy.map(([region, plan]) => `${plan.migration} in ${region} destroys ${describeLosses(plan)}`);
  if (!destroyData && lines.length > 0) {
    throw new RollbackRefusedError(`Rolling back ${lines.join('; ')}: add --destroy-data to do it.`);
  }
  const steps = [...plans].map(([region, plan]) => {
    const loss = plan.losses.length > 0 ? `, which destroys ${describeLosses(plan)}` : '';
    return `${region}: roll back ${plan.migration}${loss}`;
  });
  if (!(await confirm(steps))) throw CliError.forOption('migrate down', 'was not confirmed');
  return forEachRegion(regions, async (region) => {
    const expected = plans.get(region)?.migration;
    return expected === undefined ? [] : rollbackLast(databases[region], { destroyData, expected });
  });
}

export async function readMigrationStatus(database: Database): Promise<RegionStatus> {
  const applied = await findAppliedMigrations(database);
  return { applied, pending: migrations.map(({ name }) => name).filter((name) => !applied.includes(name)) };
}

/**
 * Writes a migration from the committed snapshot to the current entities, and the new snapshot. Needs no database.
 * Returns null if there is no difference.
 */
export async function createMigration(name: string, folder?: string) {
  if (!/^[a-z][a-z0-9-]{0,59}$/.test(name))
    throw CliError.forOption('NAME', `"${name}" must be lower-case words with hyphens between`);
  await requireListedSources();
  const path = folder ?? join(await findSourceRoot(), 'src', 'database', 'migrations');
  await access(join(path, 'schema.json')).catch(() => {
    throw CliError.forOption('migrate create', `there is no schema.json in ${path}`);
  });
  const orm = createOrm('postgresql://localhost/none', {
    migrations: {
      ...{ path, pathTs: path, glob: '[0-9]*.ts', emit: 'ts', snapshot: true, snapshotName: 'schema', silent: true },
      generator: MigrationFileGenerator,
      fileName: (timestamp: string) => `${timestamp}-${name}`,
    },
  });
  try {
    const { fileName, code, diff } = await orm.migrator.create(undefined, false, false, name.replaceAll('-', '_'));
    if (!fileName) return null;
    const className = /class (\w+)/.exec(code)![1]!;
    await writeMigrationIndex(path);
    return { file: join(path, fileName), className, statements: diff.up };
  } finally {
    await orm.close();
  }
}
