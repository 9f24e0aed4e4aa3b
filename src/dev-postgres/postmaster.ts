import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, readlink, rm, stat } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorCode } from '../database/errors.ts';
import { OperatorError } from '../shared/operator-error.ts';
import { readStartTime } from './process-identity.ts';

/** A cluster that cannot be used; the message is one line for the operator. */
export class ClusterError extends OperatorError {
  override name = 'ClusterError';
}

/** Paths of PostgreSQL's programs, which the platform's package exports. */
export interface Programs {
  initdb: string;
  pg_ctl: string;
  postgres: string;
}

/** User under which PostgreSQL's programs run; {} for that of this process. */
export interface PostgresUser {
  uid?: number;
  gid?: number;
  /** Whether the programs run by setpriv, with the capability to enter all folders. */
  hasSetpriv?: boolean;
}

/** Parameters of PostgreSQL's programs for one data folder. */
export interface ClusterContext {
  /** Absolute path of the service's data folder. */
  folder: string;
  programs: Programs;
  user: PostgresUser;
  /** Password of the superuser `postgres`. */
  password: string;
}

/** Return paths of the cluster inside the service's data folder. */
export const toDataPath = (folder: string) => join(folder, 'postgres');
export const toPasswordPath = (folder: string) => join(folder, 'postgres.password');
export const toLogPath = (folder: string) => join(folder, 'postgres.log');

/** Milliseconds that a start may take. Crash recovery replays the WAL since the last checkpoint, which may be slow. */
const START_TIMEOUT_MS = 300_000;
/** Milliseconds that a stop may take. */
const STOP_TIMEOUT_MS = 60_000;

/** Log lines of a used port, and of remaining child processes of a killed server. */
const TRANSIENT_FAILURE = /could not create any TCP\/IP sockets|still in use|lock file .* (already exists|is empty)/;

/**
 * Shell script that runs the program `$0`, and stops it with SIGINT, a fast shutdown of PostgreSQL, at the end of the standard input: a
 * pipe that closes when this process ends, even by SIGKILL.
 */
const SUPERVISOR_SCRIPT = `exec 3<&0
"$0" "$@" 3<&- & server=$!
{ read -r _; kill -INT $server; } <&3 & reader=$!
wait $server; code=$?; kill $reader; exit $code`;

export const toConnectionUrl = (port: number, password: string, database: string): string =>
  `postgresql://postgres:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;

interface ServerProcess {
  pid: number;
  port: number;
  /** Empty before the server has written its command line; `ready`, or `standby`, once it accepts connections. */
  status: string;
}

/**
 * Returns the server process of the folder, whether or not it accepts connections. Rejects while this process or the system has no file
 * descriptors left, when nothing is known of the server.
 */
export async function findRunningServer(folder: string): Promise<ServerProcess | undefined> {
  const file = await readFile(join(toDataPath(folder), 'postmaster.pid'), 'utf8').catch((error) => {
    if (['EMFILE', 'ENFILE'].includes(getErrorCode(error) ?? '')) throw error;
    return '';
  });
  const lines = file.split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!port || (await readStartTime(pid)) === undefined) return undefined;
  const server = { pid, port, status: lines[7]?.trim() ?? '' };
  if (process.platform !== 'linux') return server;
  // The process id may be reused, above all in a container; a server's working directory is its data folder.
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  return directory === toDataPath(folder) ? server : undefined;
}

/** Kind of the process that starts a server: a service runs until it is stopped, an operator command ends by itself. */
export type OwnerRole = 'service' | 'command';

/** Returns the name of a cluster that this process starts. PostgreSQL keeps it in the file with its command line, until the next start. */
export const toClusterName = async (role: OwnerRole) =>
  `${role} ${process.pid} ${(await readStartTime(process.pid)) ?? ''}`.trim();

/**
 * Returns the live process that has started the running server; null when no server runs, or that of a process that was killed; undefined
 * while a server starts and has not written it. PostgreSQL itself makes sure that a folder has one server.
 */
export async function findOwner(folder: string): Promise<{ pid: number; role: OwnerRole } | null | undefined> {
  const server = await findRunningServer(folder);
  if (!server) return null;
  if (server.status === '') return undefined;
  const command = await readFile(join(toDataPath(folder), 'postmaster.opts'), 'utf8').catch(() => '');
  const owner = /cluster_name=(service|command) (\d+) ?(\d*)/.exec(command);
  if (!owner) return null;
  const pid = Number(owner[2]);
  const started = await readStartTime(pid);
  return started === undefined || started !== owner[3] ? null : { pid, role: owner[1] as OwnerRole };
}

/** Returns the server of the folder if it accepts connections. */
export async function findReadyServer(folder: string): Promise<ServerProcess | undefined> {
  const server = await findRunningServer(folder);
  return server && ['ready', 'standby'].includes(server.status) ? server : undefined;
}

/** A server that accepts connections. */
export interface RunningServer {
  port: number;
  /** Resolves when the server ends. */
  ended: Promise<void>;
}

/**
 * Starts the server on a loopback port, until this process ends: Windows has no shell for that, so that there a server may be left.
 * Returns PostgreSQL's own reason when it does not start, and whether a retry may succeed.
 */
export async function startServer(
  context: ClusterContext,
  settings: Record<string, string>,
  { port: fixedPort, onStarting }: { port?: number; onStarting?: () => void } = {},
): Promise<RunningServer | { reason: string; isTransient: boolean }> {
  const { folder, programs } = context;
  await removeStalePidFile(folder);
  const port = fixedPort ?? (await findFreePort());
  const network = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '' };
  const flags = Object.entries({ ...settings, ...network }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = [programs.postgres, '-D', toDataPath(folder), ...flags];
  const [program, ...words] = process.platform === 'win32' ? server : ['sh', '-c', SUPERVISOR_SCRIPT, ...server];
  const { command, args, options } = toCommand(program!, words, context);
  const log = await open(toLogPath(folder), 'a', 0o600);
  const logEnd = (await log.stat()).size;
  const child = spawn(command, args, { ...options, stdio: ['pipe', log.fd, log.fd] });
  let failure: string | undefined;
  const ended = new Promise<void>((done) => {
    const end = (reason: string) => {
      failure = reason;
      done();
    };
    child.on('error', ({ message }) => end(message));
    child.on('exit', (code) => end(`exit code ${code}`));
  });
  child.stdin!.on('error', () => undefined);
  child.unref();
  (child.stdin as Socket).unref();
  await log.close();
  onStarting?.();
  for (
    const deadline = Date.now() + START_TIMEOUT_MS;
    failure === undefined && Date.now() < deadline;
    await sleep(20)
  ) {
    // The port may be that of another server.
    if ((await findReadyServer(folder))?.port === port) return { port, ended };
  }
  const text = (await readFile(toLogPath(folder))).subarray(logEnd).toString();
  // Child processes of a killed server write to this log too, so the reason may be before the last line.
  const reason =
    [...text.matchAll(/(?:FATAL|PANIC): +(?!terminating connection)(.*)/g)].at(-1)?.[1] ?? findLastLine(text);
  return { reason: reason ?? failure ?? 'it does not accept connections', isTransient: TRANSIENT_FAILURE.test(text) };
}

/**
 * Stops the server of the folder with a fast shutdown, which ends sessions and keeps everything committed.
 *
 * @param port stops only the server on this port
 */
export async function stopServer({ folder, programs, user }: ClusterContext, port?: number): Promise<void> {
  const server = await findRunningServer(folder);
  if (!server || server.port !== (port ?? server.port)) return;
  // pg_ctl would also wait for the server that another process starts next.
  const args = ['stop', '-W', '-m', 'fast', '-D', toDataPath(folder)];
  const { output } = await runProgram(programs.pg_ctl, args, { folder, user });
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while ((await findRunningServer(folder))?.pid === server.pid) {
    if (Date.now() > deadline) throw new ClusterError(`PostgreSQL does not stop: ${findLastLine(output)}`);
    await sleep(20);
  }
}

/**
 * Returns the arguments of `spawn` that run a program as PostgreSQL's user. The process is detached, so that Ctrl-C in a terminal
 * reaches only the service, which stops the database after its last request.
 */
function toCommand(program: string, args: string[], { folder, user }: Pick<ClusterContext, 'folder' | 'user'>) {
  // PGDATA, PGPORT, PGOPTIONS etc. of the operator's shell concern another server; LC_ALL, because messages are parsed.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PG') && !name.startsWith('LC_'));
  const env = { ...Object.fromEntries(inherited), LC_ALL: 'C' };
  const { uid, gid, hasSetpriv } = user;
  const words = [...(hasSetpriv ? ['setpriv', ...toSetprivOptions(uid!, gid!)] : []), program, ...args];
  const options = { cwd: folder, env, detached: true, windowsHide: true, ...(!hasSetpriv && { uid, gid }) };
  return { command: words[0]!, args: words.slice(1), options };
}

/** Runs one of PostgreSQL's programs until it ends. */
export function runProgram(
  program: string,
  args: string[],
  context: Pick<ClusterContext, 'folder' | 'user'>,
): Promise<{ code: number | null; output: string }> {
  const { command, args: words, options } = toCommand(program, args, context);
  return new Promise((done, fail) => {
    const child = spawn(command, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    child.on('error', fail);
    let output = '';
    // A process that was not created, for want of file descriptors, has no output.
    for (const stream of [child.stdout, child.stderr] as (Readable | undefined)[]) {
      stream?.on('data', (chunk) => {
        output += chunk;
      });
    }
    child.on('close', (code) => done({ code, output }));
  });
}

/**
 * Returns options of setpriv (util-linux) that switch from root to the user and keep one capability: to read and enter all folders, so
 * that a data folder under root's home works. `no_setuid_fixup` is needed because PostgreSQL checks with access(2).
 */
export function toSetprivOptions(uid: number, gid: number): string[] {
  const capability = '+dac_read_search';
  const capabilities = ['--inh-caps', capability, '--ambient-caps', capability, '--securebits', '+no_setuid_fixup'];
  return ['--reuid', String(uid), '--regid', String(gid), '--clear-groups', ...capabilities];
}

/** Returns the last line that is not empty. */
export const findLastLine = (text: string): string | undefined => text.trim().split('\n').at(-1)?.trim() || undefined;

/** Age of a pid file that a server which starts has written completely. */
const WRITTEN_MS = 1_000;

/**
 * Removes a pid file that would prevent the start: one that is empty after a power failure, or whose process id belongs to another
 * process or a zombie. This is safe, because PostgreSQL detects remaining processes by their shared memory and not by this file.
 */
async function removeStalePidFile(folder: string): Promise<void> {
  const file = join(toDataPath(folder), 'postmaster.pid');
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
  if (Date.now() - mtimeMs > WRITTEN_MS && !(await findRunningServer(folder))) await rm(file, { force: true });
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
