import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { sweeping } from '../resolvers/attachment/sweep.ts';
import { buildApp } from './app.ts';
import { keepDemoPictures } from './cli/demo-pictures.ts';
import { systemClock } from './clock.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { REGIONS } from './context.ts';
import type { Databases } from './database/database.ts';
import { type DemoSummary, loadDemo } from './database/demo/load.ts';
import { bringUpToDate, PendingMigrations } from './database/migrate.ts';
import { isPlainError, openDatabases } from './database/open.ts';
import { folding } from './database/totals.ts';
import { startJob } from './jobs.ts';
import { tokenKey } from './keys.ts';
import { purging } from './oauth/purge.ts';
import { openStorages, type Storages } from './storage/storage.ts';
import { welcome } from './welcome.ts';

/** Starts the service and answers what stops it. */
export async function start(config: Config): Promise<() => Promise<void>> {
  const opened = await openDatabases(config, 'service');
  let app: FastifyInstance | null = null;
  let stopJobs: (() => Promise<void>)[] = [];
  let stopping = false;
  const stop = async () => {
    stopping = true;
    // Balancers learn that this instance is not ready before it refuses anybody.
    if (app?.server.listening) await sleep(config.drainSeconds * 1000);
    await app?.close();
    for (const stopJob of stopJobs) await stopJob();
    await opened.close();
  };
  try {
    for (const region of REGIONS) await bringUpToDate(opened.databases[region], config.migrate);
    const secret = await tokenKey(config);
    const storages = openStorages(config, { secret, clock: systemClock });
    const demo = config.demo && opened.embedded ? await showDemo(opened.databases, storages, config) : null;
    const { databases } = opened;
    app = await buildApp(config, {
      ...{ databases, clock: systemClock, tokenKey: secret },
      isStopping: () => stopping,
    });
    const { log } = app;
    await listen(app, config);
    const jobs = [purging(databases), sweeping(databases, storages), folding(databases)];
    stopJobs = jobs.map((job) => startJob(job, log));
    process.stdout.write(welcome(config, demo));
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The pictures come before the rows that name them. */
async function showDemo(databases: Databases, storages: Storages, config: Config): Promise<DemoSummary | null> {
  return loadDemo(databases, config, systemClock, await keepDemoPictures(storages));
}

/** Listens without Fastify's own line: the welcome says it better. */
async function listen(app: FastifyInstance, { host, port }: Config): Promise<void> {
  const level = app.log.level;
  app.log.level = 'warn';
  await app.listen({ host, port });
  app.log.level = level;
}

/** The first signal lets requests finish, and in production new ones come for a while; a second one ends the process at once. */
function stopOnSignals(stop: () => Promise<void>): void {
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1);
      stopping = true;
      stop().then(
        () => process.exit(0),
        (error) => fail(error),
      );
    });
  }
}

function fail(error: unknown): never {
  process.stderr.write(`${describe(error)}\n`);
  process.exit(1);
}

/** One clear line for what an operator can mend; the stack for anything else. */
function describe(error: unknown): string {
  if (error instanceof ConfigError || error instanceof PendingMigrations || isPlainError(error)) return error.message;
  const { code, port, address, path } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  if (code === 'EADDRINUSE') return `Port ${port} is in use: set PORT to another one.`;
  if (code === 'EACCES' && port !== undefined) return `Port ${port} of ${address} may not be used by this user.`;
  if (['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR'].includes(code ?? ''))
    return `The data folder cannot be written: ${path ?? code}.`;
  return (error as Error).stack ?? String(error);
}

try {
  stopOnSignals(await start(loadConfig()));
} catch (error) {
  fail(error);
}
