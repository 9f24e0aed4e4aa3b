import { type Config, loadConfig } from '../../config.ts';
import type { Databases } from '../../database/database.ts';
import { runPendingMigrations } from '../../database/run-migrations.ts';
import { openDatabases } from '../../dev-postgres/open-databases.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import type { RegionId } from '../../shared/regions.ts';
import { printText } from '../../shared/terminal-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo } from '../io/cli-io.ts';
import { createOperatorSource } from './operator-source.ts';

/** Opens both databases, as the owner of their tables for a migration, runs the work and closes them, also after an error or an interrupt. */
export async function withDatabases<T>(
  io: CliIo,
  work: (databases: Databases, config: Config) => Promise<T>,
  role: 'command' | 'migration' = 'command',
): Promise<T> {
  const config = loadConfig(io.env);
  const { databases, close } = await openDatabases(
    role === 'migration' && config.ownerUrls ? { ...config, directUrls: config.ownerUrls } : config,
    'command',
  );
  let closing: Promise<void> | undefined;
  const closeOnce = () => {
    closing ??= close();
    return closing;
  };
  let interrupted = false;
  const unregister = io.onInterrupt?.(() => {
    interrupted = true;
    return closeOnce();
  });
  try {
    return await work(databases, config);
  } catch (error) {
    throw interrupted ? new CliError('Interrupted.') : error;
  } finally {
    unregister?.();
    // The work is committed, and its result may contain a secret that is shown once: an error here must not replace it.
    await closeOnce().catch((error: Error) => printText(io.stderr, `The database was not closed: ${error.message}`));
  }
}

/**
 * Runs work on the databases of the regions, after their pending migrations (with MIGRATE=check: after checking them).
 *
 * @param command Name of the command, such as `client create`, for the audit log.
 */
export function withRegionalContexts<T>(
  io: CliIo,
  regions: readonly RegionId[],
  command: string,
  work: (contexts: ChangeContext[]) => Promise<T>,
): Promise<T> {
  return withDatabases(io, async (databases, { migrate }) => {
    for (const region of regions) await runPendingMigrations(databases[region], migrate);
    const source = createOperatorSource(command);
    return work(regions.map((region) => ({ database: databases[region], clock: io.clock, source })));
  });
}
