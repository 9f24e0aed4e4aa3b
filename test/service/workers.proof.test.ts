import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { findRunningServer } from '../../src/dev-postgres/postmaster.ts';
import { createDatabase } from '../setup/database.ts';
import { freePort } from '../support/ports.ts';
import { endPrograms, type ProgramRun, runProgram, startProgram } from '../support/program.ts';

/** Long enough for several processes to start on a loaded machine. */
const POLL_TIMEOUT = { timeout: 20_000 };

let folder: string;
let port: number;
let databases: Record<string, string>;
const drops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workers-'));
  // PostgreSQL's user has to pass through where the tests run as root.
  await chmod(folder, 0o711);
  port = await freePort();
  const { templates } = inject('cluster');
  const [au1, us1] = await Promise.all([createDatabase(templates.au1), createDatabase(templates.us1)]);
  databases = { DATABASE_URL_AU1: au1.url, DATABASE_URL_US1: us1.url, DATA_DIR: join(folder, 'beside') };
  drops.push(au1.drop, us1.drop);
});

afterAll(async () => {
  await Promise.all(drops.map((drop) => drop()));
  await rm(folder, { recursive: true, force: true });
});

const start = (settings: Record<string, string> = {}) =>
  startProgram({ ...databases, WORKERS: '2', PORT: String(port), ...settings });

interface Answer {
  status: number;
  text: string;
}

/** Sends a request on a new connection: the workers accept connections in turn. */
function call(path: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}) {
  const { method = 'GET', headers, body } = options;
  return new Promise<Answer>((done, fail) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      done({ status: response.statusCode!, text });
    });
    sent.on('error', fail);
    sent.end(body);
  });
}

async function statuses(count: number, path: string, headers: Record<string, string> = {}): Promise<number[]> {
  const found: number[] = [];
  for (let sent = 0; sent < count; sent++) found.push((await call(path, { headers })).status);
  return found;
}

const repeat = (count: number, status: number) => Array<number>(count).fill(status);

/** Returns the ids of the processes that served requests, from the log or a part of it. */
const pidsOf = (log: string) =>
  new Set([...log.matchAll(/"pid":(\d+),.*"msg":"request"/g)].map(([, pid]) => Number(pid)));

/** Sends requests until both workers have served one: the kernel gives each connection to any of them. Returns the statuses. */
async function statusesOfBoth(service: ProgramRun, path: string, headers: Record<string, string> = {}) {
  const from = service.output().length;
  const found: number[] = [];
  const linesOfPath = () =>
    service
      .output()
      .slice(from)
      .split('\n')
      .filter((line) => line.includes(`"path":"${path}"`));
  while (pidsOf(linesOfPath().join('\n')).size < 2) found.push(...(await statuses(2, path, headers)));
  return found;
}

const clientA = () => inject('demo').clients.find(({ name }) => name === 'A')!;

const toFormRequest = (fields: Record<string, string>) => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({
    client_id: clientA().clientId,
    client_secret: clientA().clientSecret!,
    ...fields,
  }).toString(),
});

const tokenRequest = () =>
  toFormRequest({ grant_type: 'client_credentials', audience: `http://localhost:${port}`, scope: 'read:builders' });

describe('several workers', () => {
  let service: ProgramRun;

  beforeAll(async () => {
    service = await start({ LOG_LEVEL: 'info' });
  });

  afterAll(endPrograms);

  it('share the port and the requests, combine their metrics and print one welcome message', async () => {
    const count = async () => {
      const { text } = await call('/metrics');
      const line =
        /^http_request_duration_seconds_count\{method="GET",route="\/health\/ready",status_code="200"\} (\d+)$/m;
      return Number(line.exec(text)?.[1] ?? 0);
    };
    const before = await count();
    const answers = await statusesOfBoth(service, '/health/ready');
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(pidsOf(service.output())).not.toContain(service.process.pid);
    expect(service.output().match(/REST reference/g)).toHaveLength(1);
    expect(await count()).toBe(before + answers.length);
  });

  it('reject a token within a second of its revocation', async () => {
    const { access_token } = JSON.parse((await call('/oauth/token', tokenRequest())).text);
    const headers = { authorization: `Bearer ${access_token}` };
    expect(new Set(await statusesOfBoth(service, '/builders', headers))).toEqual(new Set([200]));
    expect((await call('/oauth/revoke', toFormRequest({ token: access_token }))).status).toBe(200);
    await expect.poll(() => statuses(6, '/builders', headers), POLL_TIMEOUT).toEqual(repeat(6, 401));
  });

  it('are replaced when they exit, and the exit is logged', async () => {
    const from = service.output().length;
    const log = () => service.output().slice(from);
    await statuses(4, '/health/live');
    await expect.poll(() => pidsOf(log()).size, POLL_TIMEOUT).toBeGreaterThan(0);
    const [victim] = pidsOf(log());
    process.kill(victim!, 'SIGKILL');
    const find = (line: RegExp) => line.exec(log())?.[0];
    await expect.poll(() => find(/.*a worker ended, another takes its place.*\n/), POLL_TIMEOUT).toBeDefined();
    const line = find(/.*a worker ended, another takes its place.*\n/);
    expect(JSON.parse(line!)).toMatchObject({ level: 50, worker: victim, signal: 'SIGKILL' });
    expect(await statuses(4, '/health/ready')).toEqual(repeat(4, 200));
    await expect.poll(() => find(/a worker took the place of one that ended/), POLL_TIMEOUT).toBeDefined();
    // Until the new worker has received a connection.
    while (pidsOf(log()).size < 3) await statuses(2, '/health/live');
  });
});

describe('several workers of other settings', () => {
  afterEach(endPrograms);

  it('share a rate limit, which ends up to a lease of two requests early where one of them keeps a rest (LIM-6)', async () => {
    const service = await start({ RATE_LIMIT_API: '40/999999', LOG_LEVEL: 'info' });
    const answers = await statusesOfBoth(service, '/builders');
    answers.push(...(await statuses(60, '/builders')));
    const served = answers.filter((status) => status === 401).length;
    expect(served).toBeLessThanOrEqual(40);
    expect(served).toBeGreaterThanOrEqual(38);
    expect(answers.filter((status) => status === 429)).toHaveLength(answers.length - served);
  });

  it('report once why they cannot start', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: taken } = server.address() as AddressInfo;
    const { exit, output, closed } = runProgram({ ...databases, WORKERS: '2', PORT: String(taken), BANNER: '0' });
    expect(await exit).toBe(1);
    await closed;
    expect(output().trim()).toBe(`Port ${taken} is in use: set PORT to another one.`);
    server.close();
  });
});

describe('stopping several workers', () => {
  afterEach(endPrograms);

  const isRefused = () =>
    new Promise<boolean>((done) => {
      const socket = connect(port, '127.0.0.1', () => socket.destroy());
      socket.on('error', () => done(true)).on('close', () => done(false));
    });

  it.each(['SIGTERM', 'SIGINT'] as const)('with %s finishes open requests', async (signal) => {
    const service = await start();
    const { method, headers, body } = tokenRequest();
    const expecting = { ...headers, expect: '100-continue', 'content-length': String(body.length) };
    const sent = request({ host: '127.0.0.1', port, path: '/oauth/token', method, headers: expecting, agent: false });
    const answered = once(sent, 'response');
    sent.flushHeaders();
    await once(sent, 'continue');
    service.process.kill(signal);
    await expect.poll(isRefused, POLL_TIMEOUT).toBe(true);
    sent.end(body);
    const [response] = await answered;
    expect(response.statusCode).toBe(200);
    response.resume();
    expect(await service.exit).toBe(0);
    await service.closed;
  });

  it('with Ctrl-C, which every process receives, stops PostgreSQL after the workers', async () => {
    const dataDir = join(folder, 'data');
    const service = await startProgram({ WORKERS: '2', DATA_DIR: dataDir, DEMO: '0', PORT: String(port) });
    expect(await statuses(2, '/health/ready')).toEqual(repeat(2, 200));
    process.kill(-service.process.pid!, 'SIGINT');
    expect(await service.exit).toBe(0);
    await service.closed;
    expect(await findRunningServer(dataDir)).toBeUndefined();
  });
});
