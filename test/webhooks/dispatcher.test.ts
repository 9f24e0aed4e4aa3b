import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { numberEvents, readHead } from '../../src/domain/events/event-log.ts';
import { Dispatcher } from '../../src/domain/webhooks/delivery/dispatcher.ts';
import { readPending, writeResults } from '../../src/domain/webhooks/delivery/results.ts';
import { RETRY_DELAYS_MS } from '../../src/domain/webhooks/delivery/schedule.ts';
import { startDispatchers } from '../../src/domain/webhooks/delivery/start-dispatchers.ts';
import { createWebhookTools } from '../../src/domain/webhooks/webhook-context.ts';
import { createDispatcher } from '../support/dispatcher.ts';
import { numberPendingEvents } from '../support/events.ts';
import { type Service, startService, TOKEN_KEY } from '../support/harness.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

let service: Service;
let receiver: WebhookReceiver;
let dispatcher: Dispatcher;
let builderId: string;

beforeAll(async () => {
  service = await startService();
  builderId = service.findDemoClient('A').builderIds[0]!;
  await numberPendingEvents(service.databases.au1);
});
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  dispatcher = createDispatcher(service);
});
afterEach(async () => {
  await dispatcher.stop(0);
  await execute('delete from webhook_endpoint');
  await execute('delete from webhook_dispatcher');
  await execute(`update connection set status = 'ACTIVE', active_after = null`);
  await receiver.close();
});
afterAll(() => service.stop());

// biome-ignore lint/suspicious/noExplicitAny: each statement has its own rows.
const execute = (sql: string, values: unknown[] = []): Promise<any[]> =>
  service.databases.au1.fork().execute(sql, values);

async function request(method: 'POST' | 'PATCH', path: string, payload: object) {
  const headers = { authorization: `Bearer ${await service.tokenOf('A')}` };
  const response = await service.request({ method, url: `/webhook-endpoints${path}`, headers, payload });
  expect(response.statusCode).toBeLessThan(300);
  return response.json();
}

const createEndpoint = async (input: object = {}): Promise<string> =>
  (await request('POST', '', { url: receiver.url, types: ['project.updated'], ...input })).id;

/** Changes records of the builder, each in a transaction of its own, and numbers the events. Returns the records' ids. */
async function changeRecords(count: number, table = 'project'): Promise<string[]> {
  const rows = await execute(`select id from ${table} where builder_id = ? order by id limit ?`, [builderId, count]);
  for (const { id } of rows) await execute(`update ${table} set updated_at = now() where id = ?`, [id]);
  await numberPendingEvents(service.databases.au1);
  return rows.map(({ id }) => id);
}

/** Lets the dispatcher do all that is due now. */
async function runDispatcher(): Promise<void> {
  await dispatcher.renewNow();
  await dispatcher.poll();
  await dispatcher.settle();
}

/** Keeps the requests to the receiver open until the returned function is called with the status for them and later ones. */
function holdResponses(): (status?: number) => void {
  const held: ServerResponse[] = [];
  receiver.respond = (_received, response) => void held.push(response);
  return (status = 204) => {
    respondWith(status);
    for (const response of held) response.writeHead(status).end();
  };
}

const respondWith = (status: number) => {
  receiver.respond = (_received, response) => void response.writeHead(status).end();
};

const recordIds = () => receiver.received.map(({ event }) => event.resource.id);

describe('the promotion of a standby that lacks events', () => {
  /** Delivers one event, and has the responses to three more outstanding when the log without them takes the place of this one. */
  async function loseEvents(): Promise<{ respond: () => void; kept: number }> {
    await createEndpoint();
    await changeRecords(1);
    await runDispatcher();
    const { number: kept } = await readHead(service.databases.au1);
    const respond = holdResponses();
    await changeRecords(3);
    await dispatcher.poll();
    await receiver.waitFor(3);
    await execute('delete from event where number > ?', [kept]);
    await execute('update webhook_progress set number = ?', [kept]);
    await execute(`update event_log set last_number = ?, origin = '1/00000001'`, [kept]);
    return { respond, kept };
  }

  const position = async () => Number((await execute('select number from webhook_progress'))[0].number);

  it.each([
    ['before the epoch is renewed', false],
    ['after the epoch is renewed', true],
  ])('skips none of the new events when results of the lost ones are stored %s (WHK-13)', async (_title, isRenewed) => {
    const { respond, kept } = await loseEvents();
    if (isRenewed) await numberEvents(service.databases.au1);
    respond();
    if (isRenewed) await runDispatcher();
    else await dispatcher.settle();
    expect(await position()).toBe(kept);
    await numberEvents(service.databases.au1);
    receiver.received.length = 0;
    const changed = await changeRecords(3);
    for (let round = 0; round < 3; round++) await runDispatcher();
    expect([recordIds().sort(), await position()]).toEqual([changed, kept + 3]);
  });

  it('skips none of the new events when the log is longer again before it is read (WHK-13)', async () => {
    const { respond, kept } = await loseEvents();
    const changed = await changeRecords(3);
    expect((await readHead(service.databases.au1)).number).toBe(kept + 3);
    respond();
    await dispatcher.settle();
    expect(await position()).toBe(kept);
    receiver.received.length = 0;
    for (let round = 0; round < 3; round++) await runDispatcher();
    expect([recordIds().sort(), await position()]).toEqual([changed, kept + 3]);
  });
});

describe('a receiver that is down for a second', () => {
  const suspension = async () => {
    const [row] = await execute('select failures, suspended_until from webhook_progress');
    const until = row.suspended_until && (Date.parse(row.suspended_until) - service.clock.now()) / 1000;
    return { failures: row.failures, seconds: until };
  };

  it('is tried again after 15 seconds, however many requests have failed at the time, and then at growing intervals (WHK-11)', async () => {
    await createEndpoint({ types: ['timesheet.updated'] });
    await changeRecords(40, 'timesheet');
    // Each success allows one more request at a time, up to 16.
    await runDispatcher();
    const respond = holdResponses();
    await changeRecords(40, 'timesheet');
    await dispatcher.renewNow();
    await dispatcher.poll();
    await receiver.waitFor(40 + 16);
    expect(dispatcher.statistics.inFlight).toBe(16);
    respond(503);
    await dispatcher.settle();
    expect(await suspension()).toEqual({ failures: 10, seconds: 15 });
    for (const seconds of [30, 60, 120]) {
      service.clock.advance(seconds * 500);
      receiver.received.length = 0;
      await runDispatcher();
      expect([receiver.received.length, (await suspension()).seconds]).toEqual([1, seconds]);
    }
    service.clock.advance(120_000);
    respondWith(204);
    for (let round = 0; round < 3; round++) await runDispatcher();
    expect(await suspension()).toEqual({ failures: 0, seconds: null });
  });
});

describe('a receiver that returns 410', () => {
  it('gets no further request, also before the disabled endpoint is stored (WHK-11)', async () => {
    const id = await createEndpoint();
    await dispatcher.renewNow();
    await dispatcher.poll();
    const respond = holdResponses();
    await changeRecords(3);
    await dispatcher.poll();
    await receiver.waitFor(2);
    respond(410);
    // Without `flush`, the endpoint is still active in the database.
    await expect.poll(() => dispatcher.statistics.inFlight).toBe(0);
    await dispatcher.poll();
    await dispatcher.settle();
    expect(receiver.received).toHaveLength(2);
    expect(await execute('select status, disabled_reason from webhook_endpoint where id = ?', [id])).toEqual([
      { status: 'DISABLED', disabled_reason: 'GONE' },
    ]);
  });
});

describe('an endpoint to which nothing is delivered', () => {
  it('has its position stored every 5 seconds at most', async () => {
    const position = async () => Number((await execute('select number from webhook_progress'))[0].number);
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    vi.advanceTimersByTime(60_000);
    await createEndpoint({ types: ['defect.updated'] });
    const skipEvent = async () => {
      await changeRecords(1);
      await runDispatcher();
      return (await readHead(service.databases.au1)).number;
    };
    const first = await skipEvent();
    expect(await position()).toBe(first);
    vi.advanceTimersByTime(4_999);
    const second = await skipEvent();
    expect(await position()).toBe(first);
    vi.advanceTimersByTime(1);
    await dispatcher.flush();
    expect(await position()).toBe(second);
  });
});

describe('the dispatchers of a process', () => {
  it('wait for the requests in progress when they stop, and leave the endpoints to other processes (WHK-13)', async () => {
    const webhooks = createWebhookTools({ production: false }, [TOKEN_KEY]);
    const log = { error: () => undefined, info: () => undefined };
    await createEndpoint();
    const running = startDispatchers(service.databases, { clock: service.clock, webhooks }, log);
    onTestFinished(() => running.stop());
    const leases = () => execute('select lease_owner from webhook_progress');
    await expect.poll(leases).not.toEqual([{ lease_owner: null }]);
    const respond = holdResponses();
    await changeRecords(1);
    await receiver.waitFor(1);
    let hasStopped = false;
    const stopped = running.stop().then(() => {
      hasStopped = true;
    });
    await new Promise((done) => setImmediate(done));
    expect(hasStopped).toBe(false);
    respond();
    await stopped;
    expect(await leases()).toEqual([{ lease_owner: null }]);
    expect(await execute('select status from webhook_delivery')).toEqual([{ status: 'DELIVERED' }]);
    expect(await execute('select from webhook_dispatcher')).toEqual([]);
  });
});

describe('deliveries that wait for a retry', () => {
  it.each([
    ['status', () => ({ status: 'ACTIVE' })],
    ['url', () => ({ url: `${receiver.url}/repaired` })],
  ])('are attempted at once when the %s is set (WHK-6, WHK-11)', async (_title, changes) => {
    const id = await createEndpoint();
    respondWith(500);
    await changeRecords(1);
    await runDispatcher();
    for (const delay of RETRY_DELAYS_MS.slice(0, 8)) {
      service.clock.advance(delay * 1.2);
      await runDispatcher();
    }
    expect(receiver.received).toHaveLength(9);
    respondWith(204);
    await runDispatcher();
    expect(receiver.received).toHaveLength(9);
    await request('PATCH', `/${id}`, changes());
    await runDispatcher();
    await runDispatcher();
    expect(receiver.received).toHaveLength(10);
    expect(await execute('select status, attempts from webhook_delivery')).toEqual([
      { status: 'DELIVERED', attempts: 10 },
    ]);
  });
});

describe('an event that follows a change of what an endpoint receives', () => {
  it.each([
    ['types', { types: null }],
    ['builderIds', { builderIds: null }],
  ])('is delivered when %s includes it, although the settings are read later (WHK-6)', async (_title, changes) => {
    const other = service.findDemoClient('A').builderIds[1]!;
    const id = await createEndpoint({ types: ['defect.updated', 'project.updated'], builderIds: [other] });
    await request('PATCH', `/${id}`, 'types' in changes ? { types: ['defect.updated'], builderIds: null } : {});
    await runDispatcher();
    await request('PATCH', `/${id}`, changes);
    const changed = await changeRecords(2);
    await dispatcher.poll();
    await dispatcher.settle();
    for (let round = 0; round < 2; round++) await runDispatcher();
    expect(recordIds().sort()).toEqual(changed);
  });

  it.each([
    ['the builder is connected', `status = 'REVOKED'`, `status = 'ACTIVE'`],
    ['the connection allows more scopes', `scopes = '{read:builder}'`, `scopes = scopes || '{read:projects}'`],
  ])('is delivered when %s, although the earlier state was read just before (WHK-7)', async (_title, before, after) => {
    const scopes = await execute('select scopes from connection where builder_id = ?', [builderId]);
    const connect = (values: string) => execute(`update connection set ${values} where builder_id = ?`, [builderId]);
    await createEndpoint();
    await connect(before);
    await changeRecords(1);
    dispatcher.clearAudiences();
    await runDispatcher();
    expect(receiver.received).toEqual([]);
    await connect(after);
    const changed = await changeRecords(2);
    for (let round = 0; round < 2; round++) await runDispatcher();
    expect(recordIds().sort()).toEqual(changed);
    await execute('update connection set scopes = ?::text[] where builder_id = ?', [
      `{${scopes[0].scopes}}`,
      builderId,
    ]);
  });
});

describe('a process whose leases have expired', () => {
  /** Queues a delivery in the dispatcher, which does not run while other instances deliver. */
  async function expire(): Promise<string> {
    const id = await createEndpoint();
    receiver.respond = () => undefined;
    await dispatcher.refresh();
    await dispatcher.poll();
    await changeRecords(1);
    await dispatcher.poll();
    await receiver.waitFor(1);
    dispatcher.expireLeases();
    await dispatcher.settle();
    respondWith(204);
    receiver.received.length = 0;
    return id;
  }

  it('repeats nothing that another process has delivered when it claims the endpoint again (WHK-13)', async () => {
    const id = await expire();
    await execute('update webhook_progress set lease_until = now()');
    const expired = dispatcher;
    dispatcher = createDispatcher(service);
    await changeRecords(1);
    for (let round = 0; round < 2; round++) await runDispatcher();
    expect(receiver.received).toHaveLength(2);
    await dispatcher.stop(0);
    const progress = await execute('select number from webhook_progress');
    // Of the two endpoints, only the first is free.
    await createEndpoint({ types: ['defect.updated'] });
    await execute(
      `update webhook_progress set lease_owner = 'other', lease_until = now() + interval '1 hour' where endpoint_id <> ?`,
      [id],
    );
    dispatcher = expired;
    for (let round = 0; round < 2; round++) await runDispatcher();
    expect(receiver.received).toHaveLength(2);
    expect(await execute('select number from webhook_progress where endpoint_id = ?', [id])).toEqual(progress);
  });

  it('delivers to no endpoint of another process while it renews them (WHK-13)', async () => {
    await expire();
    await execute(`update webhook_progress set lease_owner = 'other', lease_until = now() + interval '1 hour'`);
    const { backgroundRunner } = service.databases.au1;
    const original = backgroundRunner.run.bind(backgroundRunner);
    backgroundRunner.run = async (statement, values) => {
      const rows = await original(statement, values);
      if (statement.name === 'webhooks.leased') {
        await dispatcher.poll();
        await dispatcher.settle();
      }
      return rows;
    };
    await dispatcher.renewNow().finally(() => {
      backgroundRunner.run = original;
    });
    expect(recordIds()).toEqual([]);
  });
});

describe('a stored delivery after the position of its endpoint', () => {
  /** Stores the retry of one event while the request for an earlier one is under way, and ends the process. Returns the ids of the two. */
  async function storeRetryAfterPosition(): Promise<{ earlier: string; retried: string; position: number }> {
    await createEndpoint();
    await dispatcher.renewNow();
    await dispatcher.poll();
    await changeRecords(2);
    receiver.respond = ({ event }, response) => {
      if (event.resource.id !== receiver.received[0]!.event.resource.id) response.writeHead(500).end();
    };
    await dispatcher.poll();
    await receiver.waitFor(2);
    while ((await execute('select from webhook_delivery')).length === 0) await dispatcher.flush();
    dispatcher.expireLeases();
    await dispatcher.settle();
    await execute('update webhook_progress set lease_until = now()');
    const [{ number }] = await execute('select number from webhook_progress');
    const [earlier, retried] = receiver.ids as [string, string];
    const waiting = await execute('select event_id, status from webhook_delivery');
    expect(waiting).toEqual([{ event_id: retried, status: 'PENDING' }]);
    receiver.received.length = 0;
    respondWith(204);
    service.clock.advance(60_000);
    return { earlier, retried, position: Number(number) };
  }

  const statuses = () => execute('select event_id, status from webhook_delivery order by number');

  it('is not repeated when it succeeds while its event is read again (WHK-13)', async () => {
    const { earlier, retried, position } = await storeRetryAfterPosition();
    dispatcher = createDispatcher(service);
    const { backgroundRunner } = service.databases.au1;
    const original = backgroundRunner.run.bind(backgroundRunner);
    const { promise: isDelivered, resolve: continueReading } = Promise.withResolvers<void>();
    backgroundRunner.run = async (statement, values) => {
      if (statement.name === 'events.page' && Number(values[1]) === position) await isDelivered;
      return original(statement, values);
    };
    try {
      await dispatcher.renewNow();
      await dispatcher.poll();
      await dispatcher.poll();
      await receiver.waitFor(1);
      while (dispatcher.statistics.inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
      continueReading();
      await dispatcher.settle();
    } finally {
      backgroundRunner.run = original;
      continueReading();
    }
    for (let round = 0; round < 2; round++) await runDispatcher();
    expect(receiver.ids).toEqual([retried, earlier]);
    expect(await statuses()).toEqual([
      { event_id: earlier, status: 'DELIVERED' },
      { event_id: retried, status: 'DELIVERED' },
    ]);
  });

  it('is not repeated when more than 100 events precede its event (WHK-13)', async () => {
    const id = await createEndpoint({ types: ['timesheet.updated'] });
    await execute(
      'update timesheet set hours = hours where id in (select id from timesheet where builder_id in (?, ?) order by id limit 110)',
      service.findDemoClient('A').builderIds.slice(0, 2),
    );
    await numberPendingEvents(service.databases.au1);
    const [{ last, count }] = await execute(
      `select max(number)::int as last, count(*)::int from event where number > (select number from webhook_progress)`,
    );
    expect(count).toBe(110);
    await execute(
      `insert into webhook_delivery (id, endpoint_id, event_id, type, builder_id, number, record_id, occurred_at, status, attempts, created_at, next_attempt_at)
        select 'whd_last', ?, id, type, builder_id, number, record_id, occurred_at, 'PENDING', 1, now(), '2000-01-01'
        from event where number = ?`,
      [id, last],
    );
    for (let round = 0; round < 4; round++) await runDispatcher();
    expect([receiver.ids.length, new Set(receiver.ids).size]).toEqual([110, 110]);
    expect(await execute('select status, count(*)::int from webhook_delivery group by status')).toEqual([
      { status: 'DELIVERED', count: 110 },
    ]);
  });
});

describe('results of webhook endpoints', () => {
  it('have the last of two rows of one delivery', async () => {
    const id = await createEndpoint();
    respondWith(500);
    await changeRecords(1);
    await runDispatcher();
    const { backgroundRunner } = service.databases.au1;
    const [row] = (await readPending(backgroundRunner, [id])).get(id)!;
    const [{ epoch, lease_owner: owner, day, number, generation }] = await execute(
      `select epoch, lease_owner, day::text, number, generation from webhook_progress, event_log`,
    );
    const progress = {
      ...{ endpoint_id: id, generation, day, number: Number(number), failures: 1 },
      ...{ failing_since: null, suspended_until: null, disabled_reason: null, audit: null },
    };
    const rows = [2, 3].map((attempts) => ({ ...row!, id: `whd_${attempts}`, attempts }));
    const owned = await writeResults(backgroundRunner, owner, { epoch, progress: [progress], rows });
    expect([...owned]).toEqual([id]);
    expect(await execute('select attempts from webhook_delivery')).toEqual([{ attempts: 3 }]);
  });

  it('of one that the database rejects prevent no others, and are repeated after a minute (WHK-13)', async () => {
    const rejected: string[] = [];
    const webhooks = createWebhookTools({ production: false }, [TOKEN_KEY]);
    const onRejectedResults = (endpointId: string) => rejected.push(endpointId);
    const options = { database: service.databases.au1, clock: service.clock, webhooks, onRejectedResults };
    dispatcher = new Dispatcher(options);
    const bad = await createEndpoint({ url: `${receiver.url}/rejected` });
    const good = await createEndpoint();
    const positions = async () =>
      Object.fromEntries(
        (await execute('select endpoint_id, number from webhook_progress')).map(({ endpoint_id: id, number }) => [
          id,
          Number(number),
        ]),
      );
    const before = await positions();
    await execute(`alter table webhook_delivery add constraint test_rejects check (endpoint_id <> '${bad}') not valid`);
    try {
      await changeRecords(2);
      for (let round = 0; round < 3; round++) await runDispatcher();
    } finally {
      await execute('alter table webhook_delivery drop constraint test_rejects');
    }
    expect([rejected, receiver.received.length]).toEqual([[bad], 4]);
    expect(await positions()).toEqual({ [bad]: before[bad], [good]: before[good]! + 2 });
    for (let round = 0; round < 2; round++) await runDispatcher();
    expect(receiver.received).toHaveLength(4);
    service.clock.advance(60_000);
    for (let round = 0; round < 3; round++) await runDispatcher();
    expect(receiver.received).toHaveLength(6);
    expect(await positions()).toEqual({ [bad]: before[bad]! + 2, [good]: before[good]! + 2 });
  });
});
