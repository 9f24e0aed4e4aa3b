import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createDatabase } from '../setup/database.ts';
import { canTakeDescriptors, takeDescriptors } from '../support/descriptors.ts';
import { freePort } from '../support/ports.ts';
import { endPrograms, type ProgramRun, startProgram } from '../support/program.ts';

/** Long enough for processes on a loaded machine. */
const POLL_TIMEOUT = { timeout: 60_000 };

let folder: string;
let port: number;
let databases: Record<string, string>;
const drops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'supervision-'));
  const { templates } = inject('cluster');
  const [au1, us1] = await Promise.all([createDatabase(templates.au1), createDatabase(templates.us1)]);
  databases = { DATABASE_URL_AU1: au1.url, DATABASE_URL_US1: us1.url, DATA_DIR: folder };
  drops.push(au1.drop, us1.drop);
  port = await freePort();
});

afterAll(async () => {
  await Promise.all(drops.map((drop) => drop()));
  await rm(folder, { recursive: true, force: true });
});

const settingsOf = (settings: Record<string, string>) => ({
  ...databases,
  ...{ PORT: String(port), LOG_LEVEL: 'info', WORKERS: '2' },
  ...settings,
});

const start = (settings: Record<string, string> = {}) => startProgram(settingsOf(settings));

interface Answer {
  status: number | string;
  text: string;
}

/** Sends a request. Returns the error code in place of the status when there is no response. */
function call(
  path: string,
  { agent = false, body, token }: { agent?: Agent | false; body?: string; token?: string } = {},
): Promise<Answer> {
  return new Promise((done) => {
    const method = body === undefined ? 'GET' : 'POST';
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { 'content-type': 'application/json', ...authorization };
    const sent = request({ host: '127.0.0.1', port, path, method, agent, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      done({ status: response.statusCode!, text });
    });
    sent.on('error', ({ code }: NodeJS.ErrnoException) => done({ status: code!, text: '' }));
    sent.end(body);
  });
}

const calls = (count: number) => Promise.all(Array.from({ length: count }, () => call('/health/live')));

/** Writes a module beside the data folder and returns its path. */
async function writeModule(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

/** Process ids of the workers, the oldest first. */
async function findWorkers({ process }: ProgramRun): Promise<number[]> {
  const children = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}

/** Lines of the log of a program whose message matches, after those that were there before a test. */
const logLines = ({ output }: ProgramRun, message: RegExp, from = 0) =>
  output()
    .slice(from)
    .split('\n')
    // Without a line that is not complete.
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => message.test(msg));

const isRunning = async (pid: number) => (await readdir('/proc')).includes(String(pid));

const ENDED = /^a worker ended/;
const REPLACED = /^a worker took the place/;

/** Waits for a log line about the end of a worker and returns the first one. */
async function waitForWorkerEnd(service: ProgramRun, from = 0) {
  await expect.poll(() => logLines(service, ENDED, from).length, POLL_TIMEOUT).toBeGreaterThan(0);
  return logLines(service, ENDED, from)[0];
}

describe('a worker of a service that goes on', () => {
  let service: ProgramRun;
  /** Processes that have listened. */
  let listened: () => number[];
  /** Length of the output before a test. */
  let from: number;

  beforeAll(async () => {
    const exhaust = `process.on('SIGUSR2', () => { const kept = []; for (;;) kept.push(Array.from({ length: 1e5 }, Math.random)); })`;
    const preload = await writeModule('exhaust.cjs', exhaust);
    service = await start({ WORKER_HEAP_MIB: '150', NODE_OPTIONS: `--require=${preload}` });
    const first = await findWorkers(service);
    listened = () => [...first, ...logLines(service, REPLACED).map(({ worker }) => worker)];
  });

  // Each test has two workers that listen.
  beforeEach(async () => {
    await expect
      .poll(async () => (await findWorkers(service)).filter((pid) => listened().includes(pid)).length, POLL_TIMEOUT)
      .toBe(2);
    from = service.output().length;
  });

  afterAll(endPrograms);

  it('is replaced when it is killed while the other one serves, and fails only the requests that it was processing', async () => {
    const statuses: (number | string)[] = [];
    const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    let isOver = false;
    const load = agents.map(async (agent) => {
      while (!isOver) statuses.push((await call('/health/live', { agent })).status);
      agent.destroy();
    });
    await expect.poll(() => statuses.length, POLL_TIMEOUT).toBeGreaterThan(100);
    const [victim] = await findWorkers(service);
    process.kill(victim!, 'SIGKILL');
    const end = await waitForWorkerEnd(service, from);
    expect(end).toMatchObject({ level: 50, worker: victim, signal: 'SIGKILL', cause: 'signal SIGKILL' });
    await expect.poll(() => logLines(service, REPLACED, from).length, POLL_TIMEOUT).toBe(1);
    const replacedAt = statuses.length;
    await expect.poll(() => statuses.length, POLL_TIMEOUT).toBeGreaterThan(replacedAt + 100);
    isOver = true;
    await Promise.all(load);
    const failures = statuses.filter((status) => status !== 200);
    expect(failures.length).toBeLessThanOrEqual(agents.length);
    expect(new Set(failures)).not.toContain('ECONNREFUSED');
    const workers = await findWorkers(service);
    expect(workers).toHaveLength(2);
    expect(workers).not.toContain(victim);
  });

  it('is replaced when both are killed, and the port is open again', async () => {
    for (const victim of await findWorkers(service)) process.kill(victim, 'SIGKILL');
    await expect.poll(() => logLines(service, REPLACED, from).length, POLL_TIMEOUT).toBe(2);
    const answers = await calls(10);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });

  it('is replaced when it runs out of memory, and the log has its cause in one line', async () => {
    const [victim] = await findWorkers(service);
    process.kill(victim!, 'SIGUSR2');
    const { cause, signal } = await waitForWorkerEnd(service, from);
    expect([cause, signal]).toEqual(['out of memory: the JavaScript heap reached WORKER_HEAP_MIB', 'SIGABRT']);
    expect((await call('/health/live')).status).toBe(200);
  });

  it.skipIf(!canTakeDescriptors)('leaves connections to another one when it has no file descriptors left', async () => {
    const [worker] = await findWorkers(service);
    const restore = await takeDescriptors(worker!);
    for (const { status } of await calls(20)) expect(status).toBe(200);
    await restore();
  });

  it.skipIf(!canTakeDescriptors)('answers those that waited for file descriptors when it has some again', async () => {
    const workers = await findWorkers(service);
    const restores = await Promise.all(workers.map((worker) => takeDescriptors(worker)));
    const waiting = calls(3);
    for (const restore of restores) await restore();
    for (const { status } of await waiting) expect(status).toBe(200);
    expect(await findWorkers(service)).toEqual(workers);
  });

  it.skipIf(!canTakeDescriptors)('is created when the supervisor has file descriptors again', async () => {
    const [victim] = await findWorkers(service);
    const restore = await takeDescriptors(service.process.pid!);
    process.kill(victim!, 'SIGKILL');
    await expect.poll(() => logLines(service, ENDED, from).length, POLL_TIMEOUT).toBeGreaterThan(2);
    const [first, ...others] = logLines(service, ENDED, from);
    expect(first.cause).toBe('signal SIGKILL');
    for (const { cause } of others) expect(cause).toMatch(/^its process cannot be created: spawn .* EMFILE$/);
    await restore();
    expect((await call('/health/live')).status).toBe(200);
    await expect.poll(async () => (await findWorkers(service)).length, POLL_TIMEOUT).toBe(2);
  });
});

describe('a worker whose event loop hangs', () => {
  afterEach(endPrograms);

  it('is killed and replaced, while the other one answers every new connection', async () => {
    const service = await start({ WORKER_HANG_SECONDS: '5' });
    const [victim] = await findWorkers(service);
    process.kill(victim!, 'SIGSTOP');
    const answers = await calls(40);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(logLines(service, ENDED)).toEqual([]);
    const { worker, cause } = await waitForWorkerEnd(service);
    expect([worker, cause]).toEqual([victim, 'killed: its event loop did not run for 5 seconds']);
  });
});

describe('a worker that cannot start again', () => {
  afterEach(endPrograms);

  it('is replaced immediately, and then after growing delays', async () => {
    const failAgain = `if (process.send && require('node:fs').existsSync(${JSON.stringify(join(folder, 'fail'))})) process.exit(7)`;
    const service = await start({ NODE_OPTIONS: `--require=${await writeModule('fail-again.cjs', failAgain)}` });
    const [victim] = await findWorkers(service);
    await writeModule('fail', '');
    process.kill(victim!, 'SIGKILL');
    await expect.poll(() => logLines(service, ENDED).length, POLL_TIMEOUT).toBeGreaterThan(4);
    const [first, ...others] = logLines(service, ENDED);
    expect(first.cause).toBe('signal SIGKILL');
    expect(new Set(others.map(({ cause }) => cause))).toEqual(new Set(['exit code 7']));
    const pauses = others.slice(1).map(({ time }, index) => time - others[index].time);
    // Delays of 0, 500, 1,000 ... milliseconds.
    expect(pauses[1]).toBeGreaterThanOrEqual(500);
    expect(pauses[2]).toBeGreaterThanOrEqual(1000);
    await rm(join(folder, 'fail'));
    expect((await call('/health/live')).status).toBe(200);
  });
});

describe('stopping the supervisor', () => {
  afterEach(endPrograms);

  it('with SIGTERM serves new connections first', async () => {
    const service = await start({ DRAIN_SECONDS: '1' });
    service.process.kill('SIGTERM');
    let ready = await call('/health/ready');
    while (ready.status === 200) ready = await call('/health/ready');
    expect(ready.status).toBe(503);
    expect((await call('/health/live')).status).toBe(200);
    expect(await service.exit).toBe(0);
    await service.closed;
  });

  it('with SIGKILL ends its workers too, and frees the port for the next start', async () => {
    const service = await start();
    const workers = await findWorkers(service);
    service.process.kill('SIGKILL');
    await service.closed;
    for (const worker of workers) await expect.poll(() => isRunning(worker), POLL_TIMEOUT).toBe(false);
    await start();
    for (const { status } of await calls(4)) expect(status).toBe(200);
  });
});
