import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { open, readFile, readlink, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { processStart } from './folder-lock.ts';

/** Why the cluster cannot be used, in one line for the operator. */
export class ClusterError extends Error {
  override name = 'ClusterError';
}

/** Paths of PostgreSQL's programs, as the platform's package exports them. */
export interface Programs {
  initdb: string;
  pg_ctl: string;
  postgres: string;
}

/** User under which PostgreSQL's programs run; empty for that of this process. */
export interface Identity {
  uid?: number;
  gid?: number;
  /** Whether that user cannot pass through the folders above the programs or the data, such as root's own. */
  closedPath?: boolean;
}

/** Everything that it takes to run the PostgreSQL of one data folder. */
export interface Site {
  /** The service's data folder, resolved. */
  folder: string;
  programs: Programs;
  identity: Identity;
  /** Of the superuser `postgres`. */
  password: string;
}

/** Where the cluster's own files are, inside the service's data folder. */
export const dataOf = (folder: string) => join(folder, 'postgres');
export const passwordOf = (folder: string) => join(folder, 'postgres.password');
export const logOf = (folder: string) => join(folder, 'postgres.log');

const LOG_LIMIT = 10 * 1024 * 1024;
/** Seconds that pg_ctl waits: a crash recovery replays the log since the last checkpoint and may take its time. */
const START_LIMIT = '300';
const STOP_LIMIT = '60';

/** A taken port, children of a killed server that have yet to end, a start that a killed service left under way. */
const PASSING = /could not create any TCP\/IP sockets|still in use|lock file .* (already exists|is empty)/;
/** Milliseconds in which a server that made its file has also filled it. */
const YOUNG = 2000;

export function urlOf(port: number, password: string, database: string): string {
  return `postgresql://postgres:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

/** The server process that runs on the folder, ready or not. */
export async function runningServer(folder: string): Promise<{ pid: number; port: number } | undefined> {
  const file = await readFile(join(dataOf(folder), 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = file.split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!port || (await processStart(pid)) === undefined) return undefined;
  if (process.platform !== 'linux') return { pid, port };
  // The number may have gone to another process since, above all in a container; a server works in its data folder.
  const place = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  return place === dataOf(folder) ? { pid, port } : undefined;
}

/** Why the server on the port does not take a connection; undefined when it does. */
export async function refusal(port: number, password: string): Promise<{ code?: string; message: string } | undefined> {
  const client = new Client({ connectionString: urlOf(port, password, 'postgres'), connectionTimeoutMillis: 3000 });
  // A server that stops while the client says goodbye is not an error of anybody's.
  client.on('error', () => {});
  try {
    await client.connect();
    return undefined;
  } catch (error) {
    return error as Error & { code?: string };
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Starts the server on that loopback port, or on a free one, or gives PostgreSQL's own reason and whether it is one that passes.
 */
export async function startServer(
  site: Site,
  settings: Record<string, string>,
  givenPort?: number,
): Promise<{ port: number } | { reason: string; passing: boolean }> {
  const data = dataOf(site.folder);
  await removeLeftover(site.folder);
  const port = givenPort ?? (await freePort());
  const net = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '' };
  const flags = Object.entries({ ...settings, ...net }).map(([name, value]) => `-c ${shellQuote(`${name}=${value}`)}`);
  const logEnd = await prepareLog(site);
  const { code, output } = await run(
    site.programs.pg_ctl,
    ['start', '-w', '-t', START_LIMIT, '-D', data, '-l', logOf(site.folder), '-o', flags.join(' ')],
    site,
  );
  if (code === 0) return { port };
  const log = (await readFile(logOf(site.folder))).subarray(logEnd).toString();
  const reason = failureIn(log) ?? shutdownIn(log) ?? lastLine(log) ?? lastLine(output) ?? `exit code ${code}`;
  // The children of a killed server write to this log too, so the last line need not be the one that tells.
  return { reason, passing: PASSING.test(log) };
}

/** What the server's log says of its end since that length; undefined when it says nothing. */
export async function lastFailure(folder: string, since: number): Promise<string | undefined> {
  const log = await readFile(logOf(folder)).catch(() => Buffer.alloc(0));
  const lines = log.subarray(since).toString().trim().split('\n');
  // Sessions fail for reasons of their own, above all when the server is gone; the server's own failure is its last word.
  const last = lines.filter((line) => !line.includes('terminating connection')).slice(-2);
  return failureIn(last.join('\n')) ?? shutdownIn(lines.join('\n'));
}

const shutdownIn = (log: string): string | undefined =>
  [...log.matchAll(/LOG: +(received \S+ shutdown request.*)/g)].at(-1)?.[1];

const failureIn = (log: string): string | undefined => [...log.matchAll(/(?:FATAL|PANIC): +(.*)/g)].at(-1)?.[1];

/** Stops the server in the fast way: sessions are cut, nothing committed is lost. */
export async function stopServer(site: Site): Promise<void> {
  if (!(await runningServer(site.folder))) return;
  const args = ['stop', '-w', '-t', STOP_LIMIT, '-m', 'fast', '-D', dataOf(site.folder)];
  const { code, output } = await run(site.programs.pg_ctl, args, site);
  if (code !== 0 && (await runningServer(site.folder))) {
    throw new ClusterError(`PostgreSQL does not stop: ${lastLine(output)}`);
  }
}

/**
 * How a program runs as PostgreSQL's user. It gets a session of its own, so that Ctrl-C in a terminal reaches the service alone,
 * which then stops the database after its last request.
 */
export function commandOf(program: string, args: string[], { folder, identity }: Pick<Site, 'folder' | 'identity'>) {
  // PGDATA, PGPORT, PGOPTIONS and the like of the operator's shell are about another server; messages are read here.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('PG') && !name.startsWith('LC_'));
  const env = { ...Object.fromEntries(own), LC_ALL: 'C' };
  const { uid, gid, closedPath } = identity;
  const user = closedPath ? {} : { uid, gid };
  const words = closedPath ? ['setpriv', ...passingThrough(uid!, gid!), program, ...args] : [program, ...args];
  const options = { cwd: folder, env, detached: true, windowsHide: true, ...user };
  return { command: words[0]!, args: words.slice(1), options };
}

/** Runs one of PostgreSQL's programs to its end. */
export function run(
  program: string,
  args: string[],
  site: Pick<Site, 'folder' | 'identity'>,
): Promise<{ code: number | null; output: string }> {
  const { command, args: words, options } = commandOf(program, args, site);
  return new Promise((done, fail) => {
    const child = spawn(command, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', fail);
    child.on('close', (code) => done({ code, output }));
  });
}

/**
 * Options of setpriv (util-linux) that make a user of root who may read and enter folders that are closed to others, and
 * nothing else: a clone under root's home works as it is. `no_setuid_fixup`, because PostgreSQL asks by access(2).
 */
function passingThrough(uid: number, gid: number): string[] {
  const capability = '+dac_read_search';
  const capabilities = ['--inh-caps', capability, '--ambient-caps', capability, '--securebits', '+no_setuid_fixup'];
  return ['--reuid', String(uid), '--regid', String(gid), '--clear-groups', ...capabilities];
}

/** Last line that says something. */
export function lastLine(text: string): string | undefined {
  return text.trim().split('\n').at(-1)?.trim() || undefined;
}

/**
 * PostgreSQL refuses to start while its file is empty (a power cut) or holds a number that now belongs to a stranger or
 * a zombie. An empty file that is young may be that of a server just starting. Nothing is risked: children of a killed
 * server are found by their shared memory, not by this file.
 */
async function removeLeftover(folder: string): Promise<void> {
  const file = join(dataOf(folder), 'postmaster.pid');
  const found = await stat(file).catch(() => undefined);
  if (!found || (await runningServer(folder))) return;
  if (found.size > 0 || Date.now() - found.mtimeMs > YOUNG) await rm(file, { force: true });
}

/** Gives the log's length before the start, so that an older start's error is not taken for this one's. */
async function prepareLog({ folder, identity }: Site): Promise<number> {
  // Not followed: root must not hand the target of somebody's link to another user.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
  const log = await open(logOf(folder), flags, 0o600);
  try {
    if (identity.uid !== undefined) await log.chown(identity.uid, identity.gid!);
    if ((await log.stat()).size > LOG_LIMIT) await log.truncate();
    return (await log.stat()).size;
  } finally {
    await log.close();
  }
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.on('error', (error) => fail(new ClusterError(`No port is free for PostgreSQL: ${error.message}`)));
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}

/** pg_ctl hands the flags to a shell. */
function shellQuote(text: string): string {
  return process.platform === 'win32' ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`;
}
