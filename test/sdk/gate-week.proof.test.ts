import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateFixture, readAttendance } from '../support/attendance.ts';
import { addGateWorkers } from '../support/attendance-scenario.ts';
import { EXIT_WITH_PARENT, STDIO_WITH_PARENT } from '../support/exit-with-parent.ts';
import { BASE_URL, type Service, startService } from '../support/harness.ts';
import { FaultyNetwork } from './faulty-network.ts';

const PROGRAM = join(import.meta.dirname, 'gate-program.ts');
const DAYS = 7;
const WORKERS = 12;
const HOUR = 3_600_000;

let service: Service;
let network: FaultyNetwork;
let folder: string;
let gate: ChildProcess;
const visits: { workerId: string; signedOnAt: number; signedOffAt: number }[] = [];
/** Ids of the events for which the gate was opened. */
const opened: string[] = [];
let kills = 0;

beforeAll(async () => {
  service = await startService();
  network = await FaultyNetwork.start(service, 'POST /oauth/token');
  folder = await mkdtemp(join(tmpdir(), 'gate-week-'));
  const workers = await addGateWorkers(service.databases.au1, createGateFixture(), WORKERS);
  for (let day = 0; day < DAYS; day++)
    for (const [at, workerId] of workers.entries()) {
      const signedOnAt = Date.UTC(2026, 4, 18 + day, 20, at);
      visits.push({ workerId, signedOnAt, signedOffAt: signedOnAt + 9 * HOUR });
    }
  // The gate's clock is five minutes ahead of the service's: of the last visit both see it.
  const now = service.clock.now() + 300_000;
  visits.at(-1)!.signedOnAt = now;
  visits.at(-1)!.signedOffAt = now;
});

afterAll(async () => {
  gate?.kill('SIGKILL');
  network?.close();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts the gate. It continues with the visits that it has not recorded; of an interrupted one it begins with a new sign-on. */
function start(): void {
  const { clientId, clientSecret } = service.findDemoClient('A');
  const scopes = ['write:sign_on_events'];
  const options = { baseUrl: network.url, audience: BASE_URL, clientId, clientSecret, scopes, retryDelayMs: 1 };
  const { builderId, projectId } = createGateFixture();
  const remaining = visits.slice(Math.floor(opened.length / 2));
  const input = JSON.stringify({ folder, options, builderId, projectId, deviceId: 'gate-7', visits: remaining });
  gate = spawn(process.execPath, [...EXIT_WITH_PARENT, PROGRAM, input], { stdio: STDIO_WITH_PARENT });
  createInterface({ input: gate.stdout! }).on('line', (id) => opened.push(id));
  gate.stderr!.on('data', (text) => process.stderr.write(text));
}

async function kill(): Promise<void> {
  const exited = once(gate, 'exit');
  gate.kill('SIGKILL');
  await exited;
  kills++;
}

describe('a gate that is offline for a week and killed again and again', () => {
  it('loses and doubles nothing', async () => {
    network.faults = Array(1_000_000).fill('refused');
    for (const recorded of [0, 9, 10, 55, 120]) {
      start();
      await expect.poll(() => opened.length, { interval: 1 }).toBeGreaterThan(recorded);
      if (recorded === 120) await expect.poll(() => network.requests.length).toBeGreaterThan(0);
      await kill();
    }
    const offline = network.requests.length;
    expect((await readAttendance(service)).events.filter(({ deviceId }) => deviceId === 'gate-7')).toEqual([]);

    network.faults = Array.from({ length: 100 }, () => ['lost', 503, 'cut', 429, 'refused'] as const).flat();
    for (const sent of [1, 40, 90]) {
      start();
      await expect.poll(() => network.requests.length - offline, { interval: 1 }).toBeGreaterThan(sent);
      await kill();
    }
    network.faults = [];
    start();
    const exited = once(gate, 'exit');
    await expect.poll(() => opened.length).toBeGreaterThanOrEqual(2 * visits.length);
    service.clock.advance(300_000);
    expect(await exited).toEqual([0, null]);

    const attendance = await readAttendance(service);
    const events = attendance.events.filter(({ deviceId }) => deviceId === 'gate-7');
    const ids = events.map(({ sourceEventId }) => sourceEventId);
    expect(ids).toEqual(expect.arrayContaining(opened));
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(events.map(({ status }) => status))).toEqual(new Set(['APPLIED']));
    // An event that was stored, and the gate killed before it said so.
    expect(ids.length - opened.length).toBeLessThanOrEqual(kills);
    const stays = attendance.visits.filter(({ workerId }) => workerId.startsWith('wkr_gate'));
    expect(stays).toHaveLength(events.filter(({ type }) => type === 'SIGN_ON').length);
    expect(attendance.conflicts).toEqual([]);
  });
});
