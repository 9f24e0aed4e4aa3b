import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFileStore } from '../../sdk/src/gate/file-store.ts';
import { type GateEvent, type GateOptions, GateQueue } from '../../sdk/src/gate/queue.ts';
import { Roster } from '../../sdk/src/gate/roster.ts';
import { ConnectionError, createClient } from '../../sdk/src/index.ts';
import { createGateFixture, readAttendance } from '../support/attendance.ts';
import { BASE_URL, type Service, startService } from '../support/harness.ts';
import { FaultyNetwork } from './faulty-network.ts';

let service: Service;
let network: FaultyNetwork;
let folder: string;
const [worker, colleague] = createGateFixture().workers.active as [string, string];
/** Times of a shift before the fixed clock of the service, as the service rejects events ahead of it. */
const morning = new Date('2026-05-25T20:30:00Z');
const evening = new Date('2026-05-26T05:00:00Z');

beforeAll(async () => {
  service = await startService();
  network = await FaultyNetwork.start(service, 'POST /oauth/token');
});

afterAll(async () => {
  network.close();
  await service.stop();
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gate-'));
  network.reset();
});

afterEach(() => rm(folder, { recursive: true }));

/** The gate's client, site and store. */
function createGateOptions() {
  const { clientId, clientSecret } = service.findDemoClient('A');
  const credentials = { clientId, clientSecret: clientSecret!, scopes: ['write:sign_on_events'] };
  const client = createClient({ baseUrl: network.url, audience: BASE_URL, ...credentials, retryDelayMs: 1 });
  const { builderId, projectId } = createGateFixture();
  return { client, builderId, projectId, store: createFileStore(folder) };
}

const openGate = (options: Partial<GateOptions> = {}): Promise<GateQueue> =>
  GateQueue.open({ ...createGateOptions(), deviceId: 'turnstile-2', ...options });

/** Bodies of the received requests, in order. */
const bodies = () => network.requests.map(({ body }) => body);
const statuses = (gate: GateQueue) => gate.results.map(({ status }) => status);

describe('the queue of a gate', () => {
  it('sends its events and returns the responses', async () => {
    const gate = await openGate();
    const on = await gate.signOn(worker, morning);
    await gate.signOff(on, evening);
    expect(gate.pending.length).toBe(2);
    await gate.deliver();
    expect(statuses(gate)).toEqual(['APPLIED', 'APPLIED']);
    expect(gate.pending.length).toBe(0);
    const { events } = await readAttendance(service);
    const kept = events.find(({ sourceEventId }) => sourceEventId === on.sourceEventId)!;
    expect(kept).toMatchObject({ workerId: worker, deviceId: 'turnstile-2', occurredAt: morning.toISOString() });
  });

  it('retries network and server failures with the original id and payload', async () => {
    const gate = await openGate({ maxRetryDelayMs: 5 });
    await gate.signOn(worker, morning);
    network.faults = ['refused', 503, 502, 429, 401, 'lost'];
    await gate.deliver();
    expect(statuses(gate)).toEqual(['APPLIED']);
    expect(bodies()).toHaveLength(7);
    expect(new Set(bodies()).size).toBe(1);
  });

  it('resumes after a restart, even if the last line of its journal is incomplete', async () => {
    const before = await openGate();
    const on = await before.signOn(worker, morning);
    await before.deliver();
    await before.signOff(on, evening);
    await appendFile(join(folder, 'events.ndjson'), '{"sourceEventId":"half');
    const after = await openGate();
    expect(after.pending.length).toBe(1);
    await after.signOn(worker, evening);
    await after.deliver();
    expect(statuses(after)).toEqual(['APPLIED', 'APPLIED']);
    const next = await openGate();
    expect([next.pending, next.results]).toEqual([[], []]);
  });

  it('has every stored event, wherever the write of the next one was cut', async () => {
    const occurredAt = morning.toISOString();
    const toEvent = (sourceEventId: string) => ({
      sourceEventId,
      workerId: worker,
      type: 'SIGN_ON' as const,
      occurredAt,
    });
    const [one, two, three] = ['one', 'two', 'three'].map(toEvent) as [GateEvent, GateEvent, GateEvent];
    await createFileStore(folder).addEvents([one]);
    const path = join(folder, 'events.ndjson');
    const first = await readFile(path, 'utf8');
    await createFileStore(folder).addEvents([two]);
    const both = await readFile(path, 'utf8');
    for (let length = first.length; length < both.length - 2; length++) {
      await writeFile(path, both.slice(0, length));
      const store = createFileStore(folder);
      // In the same process after a full disk, or in the next one.
      if (length % 2 === 0) expect((await store.load()).events).toEqual([one]);
      await store.addEvents([three]);
      expect((await createFileStore(folder).load()).events).toEqual([one, three]);
    }
  });

  it('repeats an event whose result was not written to its journal, and changes nothing by it', async () => {
    const before = await openGate();
    const event = await before.signOn(worker, morning);
    const unsent = await readFile(join(folder, 'events.ndjson'));
    await before.deliver();
    await writeFile(join(folder, 'events.ndjson'), unsent);
    const after = await openGate();
    await after.deliver();
    expect(statuses(after)).toEqual(['APPLIED']);
    const { events } = await readAttendance(service);
    expect(events.filter(({ sourceEventId }) => sourceEventId === event.sourceEventId)).toHaveLength(1);
  });

  it('keeps rejected events for manual review and does not repeat them', async () => {
    const gate = await openGate();
    const on = await gate.signOn(worker, morning);
    await gate.signOff({ ...on, workerId: colleague }, evening);
    await gate.signOn('wkr_nosuch', morning);
    await gate.deliver();
    expect(gate.refused.map(({ code }) => code)).toEqual(['WORKER_MISMATCH', 'FORBIDDEN']);
    const sent = bodies().length;
    await gate.deliver();
    const next = await openGate();
    await next.deliver();
    expect(bodies()).toHaveLength(sent);
    for (const { sourceEventId } of next.refused) await next.forget(sourceEventId);
    expect((await openGate()).refused).toEqual([]);
  });

  it('sends a refused event again when people say so', async () => {
    const gate = await openGate();
    const { sourceEventId } = await gate.signOn('wkr_nosuch', morning);
    await gate.deliver();
    await gate.retry(sourceEventId);
    expect(gate.pending.map((event) => event.sourceEventId)).toEqual([sourceEventId]);
    await gate.deliver();
    expect(bodies()).toHaveLength(2);
  });

  it('sends a sign-off after its sign-on, and everything else meanwhile', async () => {
    const gate = await openGate({ maxRetryDelayMs: 5 });
    const on = await gate.signOn(worker, new Date(service.clock.now() + 65_000));
    const off = await gate.signOff(on, new Date(service.clock.now() + 66_000));
    const other = await gate.signOn(colleague, morning);
    const delivering = gate.deliver();
    await expect.poll(() => gate.results.length).toBe(1);
    expect(bodies().filter((body) => body.includes(off.sourceEventId) && body.includes('SIGN_OFF'))).toEqual([]);
    service.clock.advance(120_000);
    await delivering;
    expect(gate.results.map(({ sourceEventId }) => sourceEventId)).toEqual([
      other.sourceEventId,
      on.sourceEventId,
      off.sourceEventId,
    ]);
  });

  it('keeps an event that is ahead of the clock of the service and sends it later', async () => {
    const gate = await openGate({ maxRetryDelayMs: 5 });
    const early = await gate.signOn(worker, new Date(service.clock.now() + 65_000));
    const usual = await gate.signOn(colleague, morning);
    const delivering = gate.deliver();
    // Sent and refused more than once, while the other event is settled.
    await expect.poll(() => bodies().length).toBeGreaterThan(3);
    expect(gate.results.map(({ sourceEventId }) => sourceEventId)).toEqual([usual.sourceEventId]);
    expect([gate.pending.length, gate.refused]).toEqual([1, []]);
    service.clock.advance(60_000);
    await delivering;
    expect(gate.results.map(({ sourceEventId, status }) => [sourceEventId, status])).toEqual([
      [usual.sourceEventId, 'APPLIED'],
      [early.sourceEventId, 'APPLIED'],
    ]);
    const sent = bodies().filter((body) => body.includes(early.sourceEventId));
    expect(new Set(sent).size).toBe(1);
  });

  it('keeps an event that is ahead of the clock over a restart', async () => {
    const gate = await openGate({ maxRetryDelayMs: 60_000 });
    await gate.signOn(worker, new Date(service.clock.now() + 3_600_000));
    const ending = new AbortController();
    const delivering = gate.deliver(ending.signal);
    await expect.poll(() => bodies().length).toBe(1);
    ending.abort();
    await expect(delivering).rejects.toThrow();
    const after = await openGate();
    expect([after.pending.length, after.refused]).toEqual([1, []]);
  });

  it('keeps every other 400 for manual review and continues with the other events', async () => {
    const gate = await openGate();
    const event = (sourceEventId: string, changes: object) => ({
      sourceEventId,
      workerId: worker,
      type: 'SIGN_ON' as const,
      occurredAt: morning.toISOString(),
      ...changes,
    });
    const inTheFuture = new Date(service.clock.now() + 60_000).toISOString();
    await gate.enqueue(
      event('wrong-worker', { workerId: 'nobody' }),
      event('wrong-time', { occurredAt: 'yesterday' }),
      event('two-errors', { workerId: 'nobody', occurredAt: inTheFuture }),
      event('right', {}),
    );
    await gate.deliver();
    expect(statuses(gate)).toEqual(['REFUSED', 'REFUSED', 'REFUSED', 'APPLIED']);
    const kept = (await openGate()).refused.map(({ sourceEventId, errors }) => [
      sourceEventId,
      errors!.map(({ fieldName }) => fieldName).sort(),
    ]);
    expect(kept).toEqual([
      ['wrong-worker', ['workerId']],
      ['wrong-time', ['occurredAt']],
      ['two-errors', expect.arrayContaining(['workerId'])],
    ]);
    const sent = bodies().length;
    await (await openGate()).deliver();
    expect(bodies()).toHaveLength(sent);
  });

  it('writes an event to its disk before the gate opens', async () => {
    const gate = await openGate();
    const event = await gate.signOn(worker, morning);
    expect(JSON.parse(await readFile(join(folder, 'events.ndjson'), 'utf8'))).toEqual({ event });
  });

  it('stops on request and loses no event', async () => {
    const gate = await openGate();
    await gate.signOn(worker, morning);
    network.faults = Array(50).fill(503);
    const ending = new AbortController();
    const delivering = gate.deliver(ending.signal);
    await expect.poll(() => bodies().length).toBeGreaterThan(1);
    ending.abort();
    await expect(delivering).rejects.toThrow();
    expect((await openGate()).pending.length).toBe(1);
  });
});

describe('the roster of a gate', () => {
  const revoke = (workerId: string) =>
    service.databases.au1.fork().execute('update site_access set revoked_at = now() where worker_id = ?', [workerId]);

  it('has the workers with and without access, then what has changed, also without a network and after a restart', async () => {
    const { active, revoked } = createGateFixture().workers;
    const roster = await Roster.open(createGateOptions());
    expect([roster.entries, roster.refreshedAt]).toEqual([[], null]);
    expect((await roster.refresh()).length).toBeGreaterThanOrEqual(active.length + revoked.length);
    expect(roster.find(worker)).toMatchObject({ status: 'ACTIVE', fullName: expect.any(String) });
    expect(roster.find(revoked[0]!)).toMatchObject({ status: 'REVOKED' });
    expect(await roster.refresh()).toEqual([]);

    await revoke(active.at(-1)!);
    expect((await roster.refresh()).map(({ workerId, status }) => [workerId, status])).toEqual([
      [active.at(-1), 'REVOKED'],
    ]);
    network.faults = Array(6).fill('refused');
    const next = await Roster.open(createGateOptions());
    await expect(next.refresh()).rejects.toThrow(ConnectionError);
    expect(next.entries).toEqual(roster.entries);
    expect(next.refreshedAt).toEqual(roster.refreshedAt);
    expect(await next.refresh()).toEqual([]);
  });

  it('is read from the beginning when its cursor is not accepted', async () => {
    const { store, ...options } = createGateOptions();
    const first = await Roster.open({ store, ...options });
    await first.refresh();
    await store.saveRoster({
      entries: [{ ...first.entries[0]!, workerId: 'wkr_gone' }],
      cursor: 'other',
      refreshedAt: 0,
    });
    const next = await Roster.open({ store, ...options });
    expect(next.find('wkr_gone')).toBeDefined();
    await next.refresh();
    expect(next.entries).toEqual(first.entries);
  });
});
