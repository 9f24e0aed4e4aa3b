import { type Config, loadConfig } from '../config.ts';
import type { RegionId } from '../context.ts';
import type { Databases } from '../database/database.ts';
import { bringUpToDate } from '../database/migrate.ts';
import { openDatabases } from '../database/open.ts';
import type { Shell } from './shell.ts';

export interface Session {
  config: Config;
  databases: Databases;
  /** Aborted when the operator interrupts the command. */
  signal: AbortSignal;
}

/** Opens both databases for the time of the work, whatever comes of it. */
export async function withDatabases<T>(shell: Shell, work: (session: Session) => Promise<T>): Promise<T> {
  const config = loadConfig(shell.env);
  const { databases, close } = await openDatabases(config, 'command');
  let closing: Promise<void> | undefined;
  const closeOnce = () => {
    closing ??= close();
    return closing;
  };
  const interruption = new AbortController();
  const forget = shell.onInterrupt?.(() => {
    interruption.abort();
    return closeOnce();
  });
  try {
    return await work({ config, databases, signal: interruption.signal });
  } finally {
    forget?.();
    // The work is committed, and its answer may hold a secret that is shown once: it must not be lost to this.
    await closeOnce().catch((error: Error) => shell.stderr.write(`The database was not closed: ${error.message}\n`));
  }
}

/** The same for work on one region's data, whose tables have to be up to date. */
export function withRegion<T>(
  shell: Shell,
  region: RegionId,
  work: (place: { database: Databases[RegionId] } & Pick<Session, 'signal'> & Pick<Shell, 'clock'>) => Promise<T>,
): Promise<T> {
  return withDatabases(shell, async ({ config, databases, signal }) => {
    await bringUpToDate(databases[region], config.migrate);
    return work({ database: databases[region], clock: shell.clock, signal });
  });
}
