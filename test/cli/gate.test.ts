import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { createGateFixture, readAttendance } from '../support/attendance.ts';
import { addGateWorkers } from '../support/attendance-scenario.ts';
import { type Service, startService } from '../support/harness.ts';
import { freePort } from '../support/ports.ts';
import { TextCollector } from './cli-harness.ts';

const { builderId, projectId } = createGateFixture();

let service: Service;
let env: Record<string, string>;

beforeAll(async () => {
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  service = await startService({ BASE_URL: baseUrl });
  // The gates' clock is the real one.
  service.clock.now = Date.now;
  await service.app.listen({ port });
  await addGateWorkers(service.databases.au1, createGateFixture(), 12);
  const folder = await mkdtemp(join(tmpdir(), 'gate-'));
  await writeFile(join(folder, 'demo.json'), JSON.stringify({ ...inject('demo'), attendance: createGateFixture() }));
  env = { BASE_URL: baseUrl, DATA_DIR: folder };
});

afterAll(async () => {
  await service?.stop();
  await rm(env.DATA_DIR!, { recursive: true, force: true });
});

/** Runs `gate simulate`. Returns its exit code and the JSON that it prints. */
async function simulate(args: string[], input = '', settings: Record<string, string> = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new TextCollector(), new TextCollector()];
  stdin.end(input);
  const command = ['gate', 'simulate', '--project', projectId, '--json', ...args];
  const code = await runCli(command, { env: { ...env, ...settings }, clock: service.clock, stdin, stdout, stderr });
  return { code, result: JSON.parse(code === 0 ? stdout.text : stderr.text.trim().split('\n').at(-1)!) };
}

describe('gate simulate', () => {
  // Two of these wait for seconds: the gate until the service takes an event of a wrong clock, the command until it has tried again five times.
  it.concurrent('plays gates with all faults, and finds each event once', async ({ expect }) => {
    const { code, result } = await simulate(['--workers', '12', '--days', '3']);
    expect([code, result]).toEqual([0, expect.objectContaining({ recorded: expect.any(Number) })]);
    expect(result.recorded).toBeGreaterThan(60);
    const { events } = await readAttendance(service);
    expect(events.filter(({ deviceId }) => deviceId?.startsWith('sim-'))).toHaveLength(result.recorded);
  });

  it.concurrent.for([
    ['is not there', 'http://localhost:1', 'no response'],
    ['is another one', 'ANOTHER', 'not valid JSON'],
    ['does not accept the secret', 'SERVICE', 'credentials are wrong'],
  ] as const)('says in one line that the service %s', async ([, address, expected], { expect }) => {
    const another = createServer((_request, response) => response.end('<p>\u001b[2J')).listen();
    const { port } = another.address() as AddressInfo;
    const baseUrl = { SERVICE: env.BASE_URL!, ANOTHER: `http://localhost:${port}` }[address as string] ?? address;
    const { clientId } = service.findDemoClient('A');
    const { code, result } = await simulate(['--client', clientId, '--builder', builderId], 'wrong', {
      BASE_URL: baseUrl,
    });
    another.close();
    expect([code, result.error]).toEqual([1, expect.stringContaining(expected)]);
    expect(result.error).toMatch(/^The service at BASE_URL does not answer as expected: .*$/);
  });

  it('takes the credentials of a client from stdin', async () => {
    const { clientId, clientSecret } = service.findDemoClient('A');
    const args = ['--client', clientId, '--builder', builderId, '--workers', '2', '--days', '1', '--faults', 'none'];
    const { code, result } = await simulate(args, `${clientSecret}\n`);
    expect([code, result]).toEqual([0, expect.objectContaining({ lost: 0, duplicates: 0 })]);
  });

  it('fails with the events that the service has changed', async () => {
    const em = service.databases.au1.fork();
    await em.execute(`create function change_event() returns trigger language plpgsql
      as $$ begin new.device_id := new.device_id || ' changed'; return new; end $$`);
    await em.execute(
      'create trigger change_event before insert on sign_on_event for each row execute function change_event()',
    );
    try {
      const { code, result } = await simulate(['--workers', '3', '--days', '1', '--faults', 'none']);
      expect([code, result.error]).toEqual([1, expect.stringContaining('is not as it was sent.')]);
      expect(result.surprises.length).toBeGreaterThanOrEqual(result.recorded);
    } finally {
      await em.execute('drop trigger change_event on sign_on_event');
    }
  });

  it.each(['{"clients":[{"clientSecret":"abc', '{"clients":[]}', '{"clients":[null]}', '{"clients":5}', 'null'])(
    'needs a demo in au1, unlike %s',
    async (file) => {
      const folder = await mkdtemp(join(tmpdir(), 'gate-'));
      await writeFile(join(folder, 'demo.json'), file);
      const { result } = await simulate([], '', { DATA_DIR: folder });
      await rm(folder, { recursive: true });
      expect(result).toEqual({ error: '--client: is required where au1 has no demo.' });
    },
  );

  it.each([
    [['--workers', '9999'], '--workers: '],
    [['--client', 'cli_a1'], '--builder: is required with --client.'],
    [['--faults', 'rain'], "argument 'rain' is invalid"],
    // No date is so early, and no array so long.
    [['--days', '9999999999'], 'It must be at most 10000.'],
    [['--gates', '9999999999'], 'It must be at most 10000.'],
  ])('rejects %s', async (args, error) => {
    const { code, result } = await simulate(args);
    expect([code, result.error]).toEqual([1, expect.stringContaining(error)]);
  });
});
