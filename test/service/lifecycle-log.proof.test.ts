import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { VERSION } from '../../src/shared/version.ts';
import { createDatabase } from '../setup/database.ts';
import { freePort } from '../support/ports.ts';
import { endPrograms, runProgram } from '../support/program.ts';

let settings: Record<string, string>;
let folder: string;
const drops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lifecycle-'));
  const { templates } = inject('cluster');
  const [au1, us1] = await Promise.all([createDatabase(templates.au1), createDatabase('template1')]);
  drops.push(au1.drop, us1.drop);
  settings = {
    ...{ DATABASE_URL_AU1: au1.url, DATABASE_URL_US1: us1.url, DATA_DIR: folder },
    ...{ PORT: String(await freePort()), LOG_LEVEL: 'info', BANNER: '' },
  };
});

afterEach(endPrograms);

afterAll(async () => {
  await Promise.all(drops.map((drop) => drop()));
  await rm(folder, { recursive: true, force: true });
});

describe.each([
  ['a single process', {}],
  ['a supervisor', { WORKERS: '2' }],
])('the output of %s that is no terminal', (_name, more) => {
  it('is JSON lines alone: start, migrations, requests, and the reason of the stop', async () => {
    const run = runProgram({ ...settings, ...more });
    await run.waitForOutput(/"msg":"ready"/);
    const response = await fetch(`http://localhost:${settings.PORT}/health/live`);
    expect(response.status).toBe(200);
    // A worker writes its lines itself, later than the response is received.
    await run.waitForOutput(/"msg":"request"/);
    run.process.kill('SIGTERM');
    expect(await run.exit).toBe(0);
    await run.closed;
    const lines = run
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      // Jobs write lines of regions.
      .filter(({ region }) => region === undefined);
    expect(lines.map(({ msg }) => msg)).toEqual(['starting', 'ready', 'request', 'draining', 'stopped']);
    const [starting, ready, request, draining, stopped] = lines;
    expect(starting).toMatchObject({
      version: VERSION,
      settings: { PORT: settings.PORT, LOG_LEVEL: 'info' },
    });
    expect(ready).toMatchObject({ migrations: { au1: [] }, milliseconds: expect.any(Number) });
    expect(request).toMatchObject({ route: '/health/live', status: 200, milliseconds: expect.any(Number) });
    expect(draining).toMatchObject({ reason: 'SIGTERM', drainSeconds: 0 });
    expect(stopped).toMatchObject({ reason: 'SIGTERM' });
  });
});
