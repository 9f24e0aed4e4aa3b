import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { openCluster } from '../../src/dev-postgres/cluster.ts';
import { findRunningServer } from '../../src/dev-postgres/postmaster.ts';
import { createDatabase } from '../setup/database.ts';
import { canTakeDescriptors, takeDescriptors } from '../support/descriptors.ts';
import { freePort } from '../support/ports.ts';
import { endPrograms, type ProgramRun, runProgram, SERVER_PROGRAM, startProgram } from '../support/program.ts';

let folder: string;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-'));
  // PostgreSQL's user has to pass through where the tests run as root.
  await chmod(folder, 0o711);
});

afterAll(async () => {
  const dataDir = join(folder, 'data');
  if (await findRunningServer(dataDir)) await (await openCluster({ dataDir })).stop();
  await rm(folder, { recursive: true, force: true });
});

/** The service in its embedded mode, once it is ready. */
const start = (settings: Record<string, string> = {}) =>
  startProgram({ DATA_DIR: join(folder, 'data'), PORT: String(port), ...settings });

const health = async () => (await fetch(`http://localhost:${port}/health/ready`)).json();

describe('npm start', () => {
  afterEach(endPrograms);

  beforeAll(async () => {
    port = await freePort();
  });

  it('starts everything, prints the addresses and stops everything on Ctrl-C', async () => {
    const service = await start();
    const { clients } = JSON.parse(await readFile(join(folder, 'data', 'demo.json'), 'utf8'));
    expect((await stat(join(folder, 'data', 'demo.json'))).mode & 0o777).toBe(0o600);
    for (const path of ['/docs', '/openapi.json', '/graphql', '/health/ready']) {
      expect(service.output()).toContain(`http://localhost:${port}${path}`);
    }
    expect(service.output()).toContain(clients[0].clientSecret);
    expect(await health()).toEqual({ status: 'ok', regions: { au1: 'ok', us1: 'ok' } });
    service.process.kill('SIGINT');
    expect(await service.exit).toBe(0);
    expect(await findRunningServer(join(folder, 'data'))).toBeUndefined();
  });

  it('reports that it is not ready and serves requests while it stops', async () => {
    const service = await start({ DRAIN_SECONDS: '1' });
    service.process.kill('SIGTERM');
    const ready = () => fetch(`http://localhost:${port}/health/ready`);
    let response = await ready();
    while (response.status === 200) response = await ready();
    expect(response.status).toBe(503);
    expect((await fetch(`http://localhost:${port}/openapi.json`)).status).toBe(200);
    expect(await service.exit).toBe(0);
    expect(service.output()).not.toContain('request failed');
  });

  it('keeps data and credentials on the second start, and recovers after SIGKILL of the service and of PostgreSQL', async () => {
    const before = await readFile(join(folder, 'data', 'demo.json'), 'utf8');
    const first = await start();
    first.process.kill('SIGKILL');
    await first.exit;
    const second = await start();
    expect(await health()).toMatchObject({ status: 'ok' });
    const postgres = await findRunningServer(join(folder, 'data'));
    process.kill(postgres!.pid, 'SIGKILL');
    second.process.kill('SIGKILL');
    await second.exit;
    const third = await start();
    expect(await health()).toMatchObject({ status: 'ok' });
    expect(await readFile(join(folder, 'data', 'demo.json'), 'utf8')).toBe(before);
    third.process.kill('SIGTERM');
    expect(await third.exit).toBe(0);
  });
});

describe('the embedded PostgreSQL', () => {
  afterEach(endPrograms);

  it('ends the service with code 1 and the reason when it ends', async () => {
    const service = await start({ PORT: String(await freePort()) });
    process.kill((await findRunningServer(join(folder, 'data')))!.pid, 'SIGKILL');
    expect(await service.exit).toBe(1);
    await service.closed;
    expect(service.output().trim().split('\n').at(-1)).toMatch(/^PostgreSQL has ended: /);
  });
});

describe('a running service', () => {
  let service: ProgramRun;

  beforeAll(async () => {
    port = await freePort();
    const reject = "process.on('SIGUSR2', () => { Promise.reject(new Error('left alone')); })";
    service = await start({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(reject)}` });
  });

  afterAll(endPrograms);

  it('logs an unhandled rejection and continues', async () => {
    service.process.kill('SIGUSR2');
    await service.waitForOutput(/left alone/);
    expect(await health()).toEqual({ status: 'ok', regions: { au1: 'ok', us1: 'ok' } });
  });

  it.skipIf(!canTakeDescriptors)('continues when it has file descriptors again, with the same PostgreSQL', async () => {
    const before = await findRunningServer(join(folder, 'data'));
    const restore = await takeDescriptors(service.process.pid!);
    // The service looks for the PostgreSQL every quarter of a second.
    await sleep(2_000);
    await restore();
    expect(await health()).toMatchObject({ status: 'ok' });
    expect(await findRunningServer(join(folder, 'data'))).toEqual(before);
    expect(service.output()).not.toContain('has ended');
  });
});

describe('a start that fails', () => {
  afterEach(endPrograms);

  /** Runs the service, which must exit with code 1, and returns the lines of its output. */
  async function linesOfFailure(settings: Record<string, string>): Promise<string[]> {
    const { exit, output, closed } = runProgram({ BANNER: '0', ...settings });
    expect(await exit).toBe(1);
    await closed;
    return output().trim().split('\n');
  }

  let databases: { DATABASE_URL_AU1: string; DATABASE_URL_US1: string };
  const drops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const { templates } = inject('cluster');
    const [au1, us1] = await Promise.all([createDatabase(templates.au1), createDatabase(templates.us1)]);
    databases = { DATABASE_URL_AU1: au1.url, DATABASE_URL_US1: us1.url };
    drops.push(au1.drop, us1.drop);
  });

  afterAll(() => Promise.all(drops.map((drop) => drop())));

  it('reports a port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: taken } = server.address() as AddressInfo;
    const lines = await linesOfFailure({ ...databases, DATA_DIR: join(folder, 'other'), PORT: String(taken) });
    expect(lines).toEqual([`Port ${taken} is in use: set PORT to another one.`]);
    server.close();
  });

  it('reports a data folder that cannot be written', async () => {
    const lines = await linesOfFailure({ DATA_DIR: join(SERVER_PROGRAM, 'data') });
    expect(lines).toEqual([expect.stringMatching(/^The data folder \S+ cannot be written: /)]);
  });

  it('reports which database is unreachable', async () => {
    const lines = await linesOfFailure({ ...databases, DATABASE_URL_AU1: 'postgresql://u:p@127.0.0.1:1/none' });
    expect(lines).toEqual([expect.stringMatching(/^DATABASE_URL_AU1 cannot be used: .*ECONNREFUSED/)]);
  });

  it('reports a pending migration with MIGRATE=check', async () => {
    const empty = await createDatabase('template1');
    drops.push(empty.drop);
    const lines = await linesOfFailure({ ...databases, DATABASE_URL_US1: empty.url, MIGRATE: 'check' });
    expect(lines).toEqual([
      expect.stringMatching(
        /^Region us1 waits for migrations \([^)]+\): run "builder-api migrate up" \(in a checkout: "npm run cli -- migrate up"\)\.$/,
      ),
    ]);
  });

  it('reports every invalid setting in a separate line', async () => {
    expect(await linesOfFailure({ PORT: 'x', LOG_LEVEL: 'loud', TLS_KEY: 'key.pem' })).toEqual([
      'PORT must be a port number from 1 to 65535, not "x".',
      'LOG_LEVEL must be fatal, error, warn, info, debug, trace or silent, not "loud".',
      'TLS_CERT is required with TLS_KEY.',
    ]);
  });
});
