import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTokenSource, GateClient, type GateOptions } from '../gate-client/gate-client.ts';
import { createGateFixture, readAttendance } from '../support/attendance.ts';
import { BASE_URL, useService } from '../support/harness.ts';

/** Simulated network failures: the request is lost, the response is lost, or a proxy responds. */
type Fault = 'refused' | 'lost' | 'broken gateway' | 503 | 429 | 401;

const service = useService();
let network: Server;
let folder: string;
let faults: Fault[];
/** Bodies of the received requests, in order. */
let bodies: string[];
const [worker, colleague] = createGateFixture().workers.active as [string, string];
/** Times of a shift before the fixed clock of the service, as the service rejects events ahead of it. */
const morning = new Date('2026-05-25T20:30:00Z');
const evening = new Date('2026-05-26T05:00:00Z');

beforeAll(async () => {
  network = createServer(async (request, response) => {
    let payload = '';
    for await (const chunk of request) payload += chunk;
    const fault = request.url === '/oauth/token' ? undefined : faults.shift();
    if (request.url !== '/oauth/token') bodies.push(payload);
    if (fault === 'refused') return response.destroy();
    if (fault === 'broken gateway') return response.writeHead(502).end('<html>Bad gateway</html>');
    if (typeof fault === 'number') return response.writeHead(fault, { 'retry-after': '0' }).end('{}');
    const { method, url, headers } = request;
    const answer = await service.request({ method: method as 'POST', url: url!, headers: headers as never, payload });
    if (fault === 'lost') return response.destroy();
    // The header has the time of the clock that validated the event.
    const date = new Date(service.clock.now()).toUTCString();
    response.writeHead(answer.statusCode, { ...answer.headers, date } as never).end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(network, 'listening');
});

afterAll(async () => {
  network.close();
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gate-'));
  faults = [];
  bodies = [];
});

afterEach(() => rm(folder, { recursive: true }));

function openGate(more: Partial<GateOptions> = {}): Promise<GateClient> {
  const baseUrl = `http://127.0.0.1:${(network.address() as AddressInfo).port}`;
  const { clientId, clientSecret } = service.findDemoClient('A');
  const getToken = createTokenSource({ baseUrl, clientId, clientSecret: clientSecret!, audience: BASE_URL });
  const { builderId, projectId } = createGateFixture();
  return GateClient.open({
    baseUrl,
    builderId,
    projectId,
    getToken,
    folder,
    deviceId: 'turnstile-2',
    firstRetryDelayMs: 1,
    ...more,
  });
}

const statuses = (client: GateClient) => client.results.map(({ status }) => status);

describe('the example gate client', () => {
  it('sends its events and returns the responses', async () => {
    const client = await openGate();
    const on = await client.signOn(worker, morning);
    await client.signOff(on, evening);
    expect(client.pendingCount).toBe(2);
    await client.deliver();
    expect(statuses(client)).toEqual([201, 201]);
    expect(client.pendingCount).toBe(0);
    const { events } = await readAttendance(service);
    const kept = events.find(({ sourceEventId }) => sourceEventId === on.sourceEventId)!;
    expect(kept).toMatchObject({ workerId: worker, deviceId: 'turnstile-2', occurredAt: morning.toISOString() });
  });

  it('retries network and server failures with the original id and payload', async () => {
    const client = await openGate();
    await client.signOn(worker, morning);
    faults = ['refused', 503, 'broken gateway', 429, 401, 'lost'];
    await client.deliver();
    expect(statuses(client)).toEqual([200]);
    expect(bodies).toHaveLength(7);
    expect(new Set(bodies).size).toBe(1);
  });

  it('resumes after a restart, even if the last line of its journal is incomplete', async () => {
    const before = await openGate();
    const on = await before.signOn(worker, morning);
    await before.deliver();
    await before.signOff(on, evening);
    await appendFile(join(folder, 'events.ndjson'), '{"sourceEventId":"half');
    const after = await openGate();
    expect(after.pendingCount).toBe(1);
    await after.signOn(worker, evening);
    await after.deliver();
    expect(statuses(after)).toEqual([201, 201, 201]);
    expect((await openGate()).pendingCount).toBe(0);
  });

  it('repeats an event whose response was not written to its journal, and gets 200', async () => {
    const before = await openGate();
    await before.signOn(worker, morning);
    await before.deliver();
    await rm(join(folder, 'results.ndjson'));
    const after = await openGate();
    await after.deliver();
    expect(statuses(after)).toEqual([200]);
  });

  it('keeps rejected events for manual review and does not repeat them', async () => {
    const client = await openGate();
    const on = await client.signOn(worker, morning);
    await client.signOff({ ...on, workerId: colleague }, evening);
    await client.signOn('wkr_nosuch', morning);
    await client.deliver();
    expect(client.rejected.map(({ status, body }) => [status, body.code])).toEqual([
      [409, 'WORKER_MISMATCH'],
      [403, 'FORBIDDEN'],
    ]);
    const sent = bodies.length;
    await client.deliver();
    await (await openGate()).deliver();
    expect(bodies).toHaveLength(sent);
  });

  it('keeps an event that is ahead of the clock of the service and sends it later', async () => {
    const client = await openGate({ maxRetryDelayMs: 5 });
    const early = await client.signOn(worker, new Date(service.clock.now() + 65_000));
    const usual = await client.signOn(colleague, morning);
    const delivering = client.deliver();
    // Sent and refused more than once, while the other event is settled.
    await expect.poll(() => bodies.length).toBeGreaterThan(3);
    expect(client.results.map(({ sourceEventId }) => sourceEventId)).toEqual([usual.sourceEventId]);
    expect([client.pendingCount, client.rejected]).toEqual([1, []]);
    service.clock.advance(60_000);
    await delivering;
    expect(client.results.map(({ sourceEventId, status }) => [sourceEventId, status])).toEqual([
      [usual.sourceEventId, 201],
      [early.sourceEventId, 201],
    ]);
    const sent = bodies.filter((body) => body.includes(early.sourceEventId));
    expect(new Set(sent).size).toBe(1);
  });

  it('keeps an event that is ahead of the clock over a restart', async () => {
    const client = await openGate({ maxRetryDelayMs: 60_000 });
    await client.signOn(worker, new Date(service.clock.now() + 3_600_000));
    const ending = new AbortController();
    const delivering = client.deliver(ending.signal);
    await expect.poll(() => bodies.length).toBe(1);
    ending.abort();
    await expect(delivering).rejects.toThrow();
    const after = await openGate();
    expect([after.pendingCount, after.rejected]).toEqual([1, []]);
  });

  it('keeps every other 400 for manual review and continues with the other events', async () => {
    const client = await openGate();
    const event = (sourceEventId: string, changes: object) => ({
      ...{ sourceEventId, workerId: worker, type: 'SIGN_ON' as const, occurredAt: morning.toISOString() },
      ...changes,
    });
    const inTheFuture = new Date(service.clock.now() + 60_000).toISOString();
    await client.enqueue(
      event('wrong-worker', { workerId: 'nobody' }),
      event('wrong-time', { occurredAt: 'yesterday' }),
      event('two-errors', { workerId: 'nobody', occurredAt: inTheFuture }),
      event('right', {}),
    );
    await client.deliver();
    expect(statuses(client)).toEqual([400, 400, 400, 201]);
    const kept = (await openGate()).rejected.map(({ sourceEventId, body }) => [
      sourceEventId,
      body.errors!.map(({ fieldName }) => fieldName).sort(),
    ]);
    expect(kept).toEqual([
      ['wrong-worker', ['workerId']],
      ['wrong-time', ['occurredAt']],
      ['two-errors', expect.arrayContaining(['workerId'])],
    ]);
    const sent = bodies.length;
    await (await openGate()).deliver();
    expect(bodies).toHaveLength(sent);
  });

  it('writes an event to its disk before the gate opens', async () => {
    const client = await openGate();
    const event = await client.signOn(worker, morning);
    expect(JSON.parse(await readFile(join(folder, 'events.ndjson'), 'utf8'))).toEqual(event);
  });

  it('stops on request and loses no event', async () => {
    const client = await openGate({ firstRetryDelayMs: 60_000 });
    await client.signOn(worker, morning);
    faults = [503];
    const ending = new AbortController();
    const delivering = client.deliver(ending.signal);
    await expect.poll(() => bodies.length).toBe(1);
    ending.abort();
    await expect(delivering).rejects.toThrow();
    expect((await openGate()).pendingCount).toBe(1);
  });
});
