import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../database/database.ts';
import { migrations } from '../../database/migrations/index.ts';
import { createOrm } from '../../database/orm.ts';
import { findAppliedMigrations } from '../../database/run-migrations.ts';
import { PACKAGE_ROOT } from '../../shared/version.ts';
import { CliError } from '../cli-error.ts';
import { MigrationFileGenerator, renderMigrationIndex } from './migration-files.ts';

export async function readMigrationStatus(database: Database): Promise<{ applied: string[]; pending: string[] }> {
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
  const path = folder ?? join(PACKAGE_ROOT, 'src', 'database', 'migrations');
  await access(join(path, 'schema.json')).catch(() => {
    throw CliError.forOption('migrate create', `there is no schema.json in ${path}`);
  });
  const orm = createOrm('postgresql://localhost/none', {
    migrations: {
      path,
      pathTs: path,
      glob: '[0-9]*.ts',
      emit: 'ts',
      snapshot: true,
      snapshotName: 'schema',
      silent: true,
      generator: MigrationFileGenerator,
      fileName: (timestamp: string) => `${timestamp}-${name}`,
    },
  });
  try {
    const { fileName, code, diff } = await orm.migrator.create(undefined, false, false, name.replaceAll('-', '_'));
    if (!fileName) return null;
    const className = /class (\w+)/.exec(code)![1]!;
    await writeFile(join(path, 'index.ts'), await renderMigrationIndex(path));
    return { file: join(path, fileName), className, statements: diff.up };
  } finally {
    await orm.close();
  }
}
