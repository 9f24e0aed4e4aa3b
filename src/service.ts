import 'reflect-metadata';
import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { loadTokenKeys } from './auth/token-keys.ts';
import { type Config, describeEnvironment, loadConfig } from './config.ts';
import type { Databases } from './database/database.ts';
import { runPendingMigrations } from './database/run-migrations.ts';
import { createCompactionJob } from './database/write/list-counters.ts';
import { type DemoSummary, loadDemo } from './demo/load.ts';
import { storeDemoPictures } from './demo/store-pictures.ts';
import { type OpenDatabases, openDatabases } from './dev-postgres/open-databases.ts';
import { startListingChanges } from './domain/attendance/change-lists.ts';
import { createRetentionJob } from './domain/events/retention.job.ts';
import { startSequencer } from './domain/events/sequencer.ts';
import { createErasureJob } from './domain/privacy/replay-erasures.ts';
import { createPurgeJob } from './domain/retention/purge.job.ts';
import { startSnapshots } from './domain/snapshots/start-snapshots.ts';
import { createSweepJob } from './domain/uploads/sweep.ts';
import { startDispatchers } from './domain/webhooks/delivery/start-dispatchers.ts';
import { createReencryptionJob } from './domain/webhooks/reencrypt-secrets.job.ts';
import { SecretBox } from './domain/webhooks/secret-box.ts';
import { createWebhookTools, type WebhookTools } from './domain/webhooks/webhook-context.ts';
import { logUnhandledRejections } from './http/metrics/log-lines.ts';
import { loggerOptions } from './http/metrics/logger-options.ts';
import { registerSnapshotMetrics } from './http/metrics/snapshots.ts';
import { registerWebhookMetrics } from './http/metrics/webhooks.ts';
import { findMissingInternals } from './node-internals/self-tests.ts';
import { systemClock } from './shared/clock.ts';
import { startJobs } from './shared/jobs.ts';
import { loadOnce } from './shared/load-once.ts';
import { mapRegions, REGIONS, type RegionId } from './shared/regions.ts';
import { printText, toTerminalText } from './shared/terminal-text.ts';
import { VERSION } from './shared/version.ts';
import { describeStartError } from './start-error.ts';
import { recordKeysAtStart, replayErasuresAtStart } from './start-tasks.ts';
import { openStorages } from './storage/storage.ts';
import { Supervisor } from './supervision/supervisor.ts';
import { handleSupervisorMessages, reportFailure } from './supervision/worker.ts';
import { formatWelcome } from './welcome.ts';

type Stop = () => Promise<void>;

/** Milliseconds between the end of a start and work that blocks the event loop, so that it does not delay the first requests. */
const SETTLE_MS = 1_000;

/** Runs the service: a single process, or a supervisor with its workers. */
export async function main(): Promise<void> {
  try {
    const config = loadConfig();
    if (cluster.isWorker) {
      await startWorker(config);
    } else {
      const { stream, ...options } = loggerOptions(config);
      const log = stream ? pino(options, stream) : pino(options);
      log.info({ version: VERSION, node: process.versions.node, settings: describeEnvironment() }, 'starting');
      for (const consequence of await findMissingInternals()) log.warn({ node: process.version }, consequence);
      const { stop, demo, migrations } = await start(config, log);
      // The process can be stopped as soon as it says that it is ready.
      stopOnSignals(stop, config, log);
      log.info({ version: VERSION, migrations, milliseconds: Math.round(performance.now()) }, 'ready');
      if (showsBanner(config)) process.stdout.write(toTerminalText(formatWelcome(config, demo)));
    }
  } catch (error) {
    await exitWithError(error);
  }
}

/** People read the terminal; a log collector reads everything else. */
const showsBanner = ({ banner }: Config): boolean => banner ?? process.stdout.isTTY;

interface RunningService {
  stop: Stop;
  demo: DemoSummary | null;
  /** Names of the migrations that this start applied, by region. */
  migrations: Record<RegionId, string[]>;
}

/** Starts the service. Migrations, demo data and jobs run in this process, with or without workers. */
async function start(config: Config, log: Logger): Promise<RunningService> {
  const report = (line: string) => log.warn(line);
  // A supervisor serves no requests.
  const load = config.workers > 1 ? undefined : loadOnce(loadApp);
  const opened = await openDatabases(config, 'service', {
    onStarting: load,
    onEnded: exitWithError,
  });
  const app = await load?.();
  const { databases, direct } = opened;
  let stopServing: Stop = async () => {};
  let stopJobs: Stop[] = [];
  const stop = async () => {
    await stopServing();
    for (const stopJob of stopJobs) await stopJob();
    await opened.close();
  };
  try {
    const migrations = mapRegions((): string[] => []);
    for (const region of REGIONS) {
      migrations[region] = await runPendingMigrations(direct[region], config.migrate, report);
    }
    const tokenKeys = await loadTokenKeys(config);
    const storages = openStorages(config, { secrets: tokenKeys, clock: systemClock });
    await recordKeysAtStart(direct, tokenKeys, report);
    await replayErasuresAtStart(direct, storages, report);
    const storePictures = () => storeDemoPictures(storages);
    const loadsDemo = config.demo && opened.embedded;
    const demo = loadsDemo ? await loadDemo(databases, config, tokenKeys[0]!, systemClock, storePictures) : null;
    if (app) {
      const { drain, stop: stopApp } = await serve(config, opened, app);
      stopServing = async () => {
        drain();
        // Load balancers see `/health/ready` fail before connections are refused.
        await sleep(config.drainSeconds * 1000);
        await stopApp();
      };
    } else {
      // Other databases are in the settings of the workers, which they read themselves.
      const env = opened.embedded ? toDatabaseSettings(databases) : {};
      const supervisor = new Supervisor(config, { env, log });
      await supervisor.start();
      stopServing = () => supervisor.stop();
    }
    const jobs = [
      createPurgeJob(direct),
      createSweepJob(direct, storages),
      createCompactionJob(direct),
      createRetentionJob(direct),
      createErasureJob(direct, storages, systemClock),
      createReencryptionJob(direct, new SecretBox(tokenKeys)),
    ];
    stopJobs = [startJobs(jobs, SETTLE_MS, log), startSequencer(direct, log), startListingChanges(direct, log)];
    return { stop, demo, migrations };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Loads the code that serves requests, and builds the schemas. This blocks the event loop, beyond time limits of connections. */
async function loadApp() {
  const { buildApp, createListReader, createServiceDefinition } = await import('./app.ts');
  const definition = await createServiceDefinition();
  return { buildApp, createListReader, definition };
}

/** Returns the settings with which workers connect to the embedded databases. */
function toDatabaseSettings(databases: Databases): Record<string, string> {
  return Object.fromEntries(REGIONS.map((region) => [`DATABASE_URL_${region.toUpperCase()}`, databases[region].url]));
}

/** Starts a worker. The supervisor has prepared the databases, and stops it. */
async function startWorker(config: Config): Promise<void> {
  const started = Promise.withResolvers<RunningServer>();
  handleSupervisorMessages({
    drain: () => void started.promise.then(({ drain }) => drain()),
    stop: () => exitAfter(started.promise.then(({ stop }) => stop())),
  });
  const app = await loadApp();
  const opened = await openDatabases(config, 'service');
  const { drain, stop } = await serve(config, opened, app);
  started.resolve({
    drain,
    async stop() {
      drain();
      await stop();
      await opened.close();
    },
  });
}

interface RunningServer {
  /** Makes the instance report that it is not ready, and keep serving. */
  drain: () => void;
  /** Closes the port and finishes the requests. */
  stop: Stop;
}

/** Serves requests, delivers webhooks, renders photos and writes snapshots. */
async function serve(
  config: Config,
  { databases, direct }: Pick<OpenDatabases, 'databases' | 'direct'>,
  { buildApp, createListReader, definition }: Awaited<ReturnType<typeof loadApp>>,
): Promise<RunningServer> {
  let isStopping = false;
  const tokenKeys = await loadTokenKeys(config);
  const app = await buildApp(config, {
    databases,
    clock: systemClock,
    tokenKeys,
    definition,
    rendersPhotos: true,
    isStopping: () => isStopping,
  });
  deliverWebhooks(app, databases, createWebhookTools(config, tokenKeys), config.workers);
  const storages = openStorages(config, { secrets: tokenKeys, clock: systemClock });
  registerSnapshotMetrics(direct);
  const readList = createListReader(definition);
  const options = { readList, uploadQuota: config.uploadQuota, now: systemClock.now };
  // A process that serves has the schema, which determines what records look like. The long transactions go around a pooler.
  app.addHook('preClose', startSnapshots(direct, storages, options, app.log));
  logUnhandledRejections(app);
  try {
    await listen(app, config);
  } catch (error) {
    await app.close();
    throw error;
  }
  return {
    drain: () => {
      isStopping = true;
    },
    stop: () => app.close(),
  };
}

/** Delivers events to webhook endpoints until the app closes. All processes that serve do it together. */
function deliverWebhooks(app: FastifyInstance, databases: Databases, webhooks: WebhookTools, processes: number): void {
  const onAttempt = registerWebhookMetrics(() => Object.entries(running.dispatchers));
  const onUnreadableSecret = (endpointId: string) =>
    app.log.error({ endpointId }, 'deliveries wait: the secret of the webhook endpoint cannot be decrypted');
  const onRejectedResult = (endpointId: string, err: unknown) =>
    app.log.error({ endpointId, err }, 'a delivery to the webhook endpoint is repeated: its result cannot be stored');
  const options = { processes, clock: systemClock, webhooks, onAttempt, onUnreadableSecret, onRejectedResult };
  const running = startDispatchers(databases, options, app.log);
  app.addHook('preClose', async () => {
    await running.stop();
    webhooks.receivers.close();
  });
}

/** Listens without Fastify's log line, because the welcome message has the address. */
async function listen(app: FastifyInstance, { host, port }: Config): Promise<void> {
  const level = app.log.level;
  app.log.level = 'warn';
  await app.listen({ host, port });
  app.log.level = level;
}

/**
 * Stops on the first signal: requests finish, and in production new ones are still accepted for DRAIN_SECONDS. A second signal exits at
 * once.
 */
function stopOnSignals(stop: Stop, { drainSeconds }: Config, log: Logger): void {
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1);
      stopping = true;
      log.info({ reason: signal, drainSeconds }, 'draining');
      exitAfter(stop().then(() => log.info({ reason: signal }, 'stopped')));
    });
  }
}

function exitAfter(stopped: Promise<void>): void {
  stopped.then(() => process.exit(0), exitWithError);
}

async function exitWithError(error: unknown): Promise<never> {
  const reason = describeStartError(error);
  if (cluster.isWorker) await reportFailure(reason);
  else printText(process.stderr, reason);
  process.exit(1);
}
