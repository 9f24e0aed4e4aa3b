import { type Config, loadConfig } from '../../config.ts';
import type { Databases } from '../../database/database.ts';
import { runPendingMigrations } from '../../database/run-migrations.ts';
import { openDatabases } from '../../dev-postgres/open-databases.ts';
import type { RegionId } from '../../shared/regions.ts';
import { Refusal } from '../cli-error.ts';
import type { Shell } from '../io/cli-io.ts';
import type { Place } from './command-context.ts';

/** Opens both databases for the time of the work, whatever comes of it. */
export async function withDatabases<T>(
  shell: Shell,
  work: (databases: Databases, config: Config) => Promise<T>,
): Promise<T> {
  const config = loadConfig(shell.env);
  const { databases, close } = await openDatabases(config, 'command');
  let closing: Promise<void> | undefined;
  const closeOnce = () => {
    closing ??= close();
    return closing;
  };
  let interrupted = false;
  const forget = shell.onInterrupt?.(() => {
    interrupted = true;
    return closeOnce();
  });
  try {
    return await work(databases, config);
  } catch (error) {
    throw interrupted ? new Refusal('Interrupted.') : error;
  } finally {
    forget?.();
    // The work is committed, and its answer may hold a secret that is shown once: it must not be lost to this.
    await closeOnce().catch((error: Error) => shell.stderr.write(`The database was not closed: ${error.message}\n`));
  }
}

/** The same for work on one region's data, whose tables have to be up to date. */
export function withRegion<T>(shell: Shell, region: RegionId, work: (place: Place) => Promise<T>): Promise<T> {
  return withDatabases(shell, async (databases, { migrate }) => {
    await runPendingMigrations(databases[region], migrate);
    return work({ database: databases[region], clock: shell.clock });
  });
}
