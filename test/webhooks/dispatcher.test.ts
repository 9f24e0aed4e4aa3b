import type { ServerResponse } from 'node:http';
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { numberEvents, readHead } from '../../src/domain/events/event-log.ts';
import type { Dispatcher } from '../../src/domain/webhooks/delivery/dispatcher.ts';
import { queueEvents } from '../../src/domain/webhooks/delivery/queue-events.ts';
import { RETRY_DELAYS_MS } from '../../src/domain/webhooks/delivery/schedule.ts';
import { startDispatchers } from '../../src/domain/webhooks/delivery/start-dispatchers.ts';
import { disableEndpoint } from '../../src/domain/webhooks/endpoints.ts';
import { createReencryptionJob, reencryptSecrets } from '../../src/domain/webhooks/reencrypt-secrets.job.ts';
import { SecretBox } from '../../src/domain/webhooks/secret-box.ts';
import { createWebhookTools } from '../../src/domain/webhooks/webhook-context.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { createDispatcher, runDispatcher } from '../support/dispatcher.ts';
import { numberPendingEvents } from '../support/events.ts';
import { TOKEN_KEY, useService } from '../support/harness.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { withWrongClock } from '../support/wrong-clock.ts';

const service = useService();
let receiver: WebhookReceiver;
let dispatcher: Dispatcher;
let builderId: string;

beforeAll(async () => {
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
  await execute(`update connection set status = 'ACTIVE', active_after = null`);
  await receiver.close();
});
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
    await runDispatcher(dispatcher);
    const { number: kept } = await readHead(service.databases.au1);
    const respond = holdResponses();
    await changeRecords(3);
    await dispatcher.poll();
    await receiver.waitFor(3);
    await execute('delete from event where number > ?', [kept]);
    await execute('update webhook_progress set number = ?', [kept]);
    await execute('delete from webhook_delivery where number > ?', [kept]);
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
    if (isRenewed) await runDispatcher(dispatcher);
    else await dispatcher.settle();
    expect(await position()).toBe(kept);
    await numberEvents(service.databases.au1);
    receiver.received.length = 0;
    const changed = await changeRecords(3);
    await runDispatcher(dispatcher);
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
    await runDispatcher(dispatcher);
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
    await runDispatcher(dispatcher);
    const respond = holdResponses();
    await changeRecords(40, 'timesheet');
    await dispatcher.poll();
    await receiver.waitFor(40 + 16);
    expect(dispatcher.statistics.inFlight).toBe(16);
    respond(503);
    await dispatcher.settle();
    expect(await suspension()).toEqual({ failures: 10, seconds: 15 });
    for (const seconds of [30, 60, 120]) {
      service.clock.advance(seconds * 500);
      receiver.received.length = 0;
      await runDispatcher(dispatcher);
      expect([receiver.received.length, (await suspension()).seconds]).toEqual([1, seconds]);
    }
    service.clock.advance(120_000);
    respondWith(204);
    await runDispatcher(dispatcher);
    expect(await suspension()).toEqual({ failures: 0, seconds: null });
  });
});

describe('a receiver that returns 410', () => {
  it('gets no further request (WHK-11)', async () => {
    const id = await createEndpoint();
    const respond = holdResponses();
    await changeRecords(3);
    await dispatcher.poll();
    await receiver.waitFor(2);
    respond(410);
    await expect.poll(() => dispatcher.statistics.inFlight).toBe(0);
    await dispatcher.poll();
    await dispatcher.settle();
    expect(receiver.received).toHaveLength(2);
    expect(await execute('select status, disabled_reason from webhook_endpoint where id = ?', [id])).toEqual([
      { status: 'DISABLED', disabled_reason: 'GONE' },
    ]);
  });
});

describe('the dispatchers of a process', () => {
  it('wait for the requests in progress when they stop, and store their results (WHK-13)', async () => {
    const webhooks = createWebhookTools({ production: false }, [TOKEN_KEY]);
    const log = { error: () => undefined, info: () => undefined };
    await createEndpoint();
    const running = startDispatchers(service.databases, { clock: service.clock, webhooks, processes: 1 }, log);
    onTestFinished(() => running.stop());
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
    expect(await execute('select status, leased_until from webhook_delivery')).toEqual([
      { status: 'DELIVERED', leased_until: null },
    ]);
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
    await runDispatcher(dispatcher);
    for (const delay of RETRY_DELAYS_MS.slice(0, 8)) {
      service.clock.advance(delay * 1.2);
      await runDispatcher(dispatcher);
    }
    expect(receiver.received).toHaveLength(9);
    respondWith(204);
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(9);
    await request('PATCH', `/${id}`, changes());
    await runDispatcher(dispatcher);
    await runDispatcher(dispatcher);
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
    await runDispatcher(dispatcher);
    await request('PATCH', `/${id}`, changes);
    const changed = await changeRecords(2);
    await runDispatcher(dispatcher);
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
    await runDispatcher(dispatcher);
    expect(receiver.received).toEqual([]);
    await connect(after);
    const changed = await changeRecords(2);
    await runDispatcher(dispatcher);
    expect(recordIds().sort()).toEqual(changed);
    await execute('update connection set scopes = ?::text[] where builder_id = ?', [
      `{${scopes[0].scopes}}`,
      builderId,
    ]);
  });
});

describe('a delivery that is under way', () => {
  /** Begins the delivery of one event, and an attempt at one more event of another record and one of the same. */
  async function beginDelivery(): Promise<string> {
    await createEndpoint();
    const respond = holdResponses();
    onTestFinished(() => respond());
    const [record] = await changeRecords(1);
    await dispatcher.poll();
    await receiver.waitFor(1);
    receiver.received.length = 0;
    return record!;
  }

  it('is sent by no other process, nor is a later one of its record (WHK-13)', async () => {
    await beginDelivery();
    const [, other] = await changeRecords(2);
    const second = createDispatcher(service);
    await second.poll();
    await receiver.waitFor(1);
    expect(await second.poll()).toBe(false);
    expect(recordIds()).toEqual([other]);
    await second.stop(0);
  });

  it('is sent again before the later ones of its record when its process does not end it in time (WHK-13)', async () => {
    const record = await beginDelivery();
    await changeRecords(1);
    await execute('update webhook_delivery set leased_until = now()');
    respondWith(204);
    const second = createDispatcher(service);
    await runDispatcher(second);
    expect(recordIds()).toEqual([record, record]);
    const stored = await execute('select id, status, attempts from webhook_delivery order by number');
    expect(stored.map(({ status, attempts }) => [status, attempts])).toEqual([
      ['DELIVERED', 1],
      ['DELIVERED', 1],
    ]);
    // The result of the first process comes too late.
    await dispatcher.stop(0);
    expect(await execute('select id, status, attempts from webhook_delivery order by number')).toEqual(stored);
  });

  it('keeps the result of the process that has the lease (WHK-13)', async () => {
    await createEndpoint();
    const respond = holdResponses();
    await changeRecords(1);
    await dispatcher.poll();
    await receiver.waitFor(1);
    await execute('update webhook_delivery set leased_until = now()');
    respondWith(204);
    await runDispatcher(createDispatcher(service));
    respond(500);
    await dispatcher.settle();
    expect(await execute('select status, attempts, response_status from webhook_delivery')).toEqual([
      { status: 'DELIVERED', attempts: 1, response_status: 204 },
    ]);
  });

  it('is left to other processes when its own ends before the response (WHK-13)', async () => {
    const record = await beginDelivery();
    await dispatcher.stop(0);
    expect(await execute('select status, attempts, leased_until from webhook_delivery')).toEqual([
      { status: 'PENDING', attempts: 0, leased_until: null },
    ]);
    respondWith(204);
    dispatcher = createDispatcher(service);
    await runDispatcher(dispatcher);
    expect(recordIds()).toEqual([record]);
  });

  it('is not repeated after the connection was revoked, also when it is connected again (WHK-7)', async () => {
    const connect = (status: string) =>
      execute('update connection set status = ? where builder_id = ?', [status, builderId]);
    await createEndpoint();
    const respond = holdResponses();
    await changeRecords(1);
    await dispatcher.poll();
    await receiver.waitFor(1);
    await connect('REVOKED');
    respond(500);
    await dispatcher.settle();
    await connect('ACTIVE');
    respondWith(204);
    service.clock.advance(60_000);
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(1);
    expect(await execute('select status from webhook_delivery')).toEqual([{ status: 'DROPPED' }]);
  });
});

describe('a replay that begins while a delivery is under way', () => {
  it.each([204, 500])(
    'waits for the response %d, and keeps the order of the record (WHK-13, WHK-15)',
    async (status) => {
      const id = await createEndpoint();
      const token = await service.tokenOf('A');
      const after = (await service.get('/events', token)).json().meta.nextCursor;
      await changeRecords(1);
      await runDispatcher(dispatcher);
      const respond = holdResponses();
      await changeRecords(1);
      await dispatcher.poll();
      await receiver.waitFor(2);
      const ids = [...receiver.ids];
      receiver.received.length = 0;
      await request('POST', `/${id}/replay`, { after });
      const second = createDispatcher(service);
      expect(await second.poll()).toBe(false);
      respond(status);
      await dispatcher.settle();
      respondWith(204);
      await runDispatcher(second);
      expect(receiver.ids).toEqual(ids);
      expect(await execute('select status from webhook_delivery')).toEqual([
        { status: 'DELIVERED' },
        { status: 'DELIVERED' },
      ]);
    },
  );
});

describe('a replay', () => {
  it('ends when its events were attempted, without a new event (WHK-15)', async () => {
    const id = await createEndpoint();
    const after = (await service.get('/events', await service.tokenOf('A'))).json().meta.nextCursor;
    await changeRecords(1);
    await runDispatcher(dispatcher);
    await request('POST', `/${id}/replay`, { after });
    const isReplaying = async () =>
      (await execute('select replay_until from webhook_progress'))[0].replay_until !== null;
    expect(await isReplaying()).toBe(true);
    await runDispatcher(dispatcher);
    expect([receiver.received.length, await isReplaying()]).toEqual([2, false]);
  });

  it('ends the suspension of its endpoint (WHK-15)', async () => {
    const id = await createEndpoint();
    const after = (await service.get('/events', await service.tokenOf('A'))).json().meta.nextCursor;
    await changeRecords(1);
    await runDispatcher(dispatcher);
    const until = new Date(service.clock.now() + 3_600_000).toISOString();
    await execute('update webhook_progress set failures = 9, suspended_until = ?', [until]);
    await request('POST', `/${id}/replay`, { after });
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(2);
  });

  it('reads deliveries again whose lease has ended, and waits for those under way (WHK-13, WHK-15)', async () => {
    const id = await createEndpoint();
    const after = (await service.get('/events', await service.tokenOf('A'))).json().meta.nextCursor;
    await changeRecords(2);
    const queue = () => queueEvents(service.databases.au1.backgroundRunner, service.clock.now());
    await queue();
    const listNumbers = async () =>
      (await execute('select number from webhook_delivery order by number')).map(({ number }) => number);
    const lease = (number: string, time: string) =>
      execute('update webhook_delivery set leased_until = clock_timestamp() + ?::interval where number = ?', [
        time,
        number,
      ]);
    const [stale, underWay] = await listNumbers();
    await lease(stale, '-1 second');
    await lease(underWay, '1 hour');
    await request('POST', `/${id}/replay`, { after });
    expect(await listNumbers()).toEqual([underWay]);
    expect(await queue()).toBe(false);
    await lease(underWay, '-1 second');
    expect(await queue()).toBe(true);
  });
});

describe('what another process has locked', () => {
  let other: ConcurrentTransaction;

  beforeEach(async () => {
    other = await ConcurrentTransaction.open(service.databases.au1.url);
  });
  afterEach(() => other.close());

  it('is passed over: the events of an endpoint, a delivery, and the trial of a suspended endpoint (WHK-13)', async () => {
    const lock = (table: string) => `select 1 from ${table} for update`;
    await createEndpoint();
    await changeRecords(1);
    expect(await other.whileOpen(lock('webhook_progress'), [], () => dispatcher.poll())).toBe(false);
    await queueEvents(service.databases.au1.backgroundRunner, service.clock.now());
    expect(await other.whileOpen(lock('webhook_delivery'), [], () => dispatcher.poll())).toBe(false);
    await execute('update webhook_progress set suspended_until = ?', [new Date(service.clock.now()).toISOString()]);
    expect(await other.whileOpen(lock('webhook_progress'), [], () => dispatcher.poll())).toBe(false);
    expect(receiver.received).toEqual([]);
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(1);
  });

  it('is not disabled for a response from its earlier address (WHK-11)', async () => {
    const id = await createEndpoint();
    const { databases, clock } = service;
    const context = {
      database: databases.au1,
      clock,
      webhooks: createWebhookTools({ production: false }, [TOKEN_KEY]),
    };
    let disabled: Promise<void> | undefined;
    await other.whileOpen(`update webhook_endpoint set url = 'http://127.0.0.1:1/moved'`, [], async () => {
      disabled = disableEndpoint(context, { id, url: receiver.url }, 'GONE');
      await other.untilWaiting(1);
    });
    await disabled;
    expect(await execute('select status from webhook_endpoint')).toEqual([{ status: 'ACTIVE' }]);
  });

  it('is not changed once it is deleted (WHK-6)', async () => {
    const id = await createEndpoint();
    const headers = { authorization: `Bearer ${await service.tokenOf('A')}` };
    const change = {
      method: 'PATCH',
      url: `/webhook-endpoints/${id}`,
      headers,
      payload: { status: 'PAUSED' },
    } as const;
    const [response] = await other.respondWhileOpen(
      'update webhook_endpoint set deleted_at = now()',
      [],
      [() => service.request(change)],
    );
    expect(response!.statusCode).toBe(404);
  });

  it('is tested at the address that it has afterwards (WHK-14)', async () => {
    const id = await createEndpoint({ url: 'http://127.0.0.1:1/earlier' });
    let tested: Promise<unknown> | undefined;
    await other.whileOpen('update webhook_endpoint set url = $1', [receiver.url], async () => {
      tested = request('POST', `/${id}/test`, {});
      await other.untilWaiting(1);
    });
    await tested;
    expect(receiver.received).toHaveLength(1);
  });

  it('replays up to the events that were read meanwhile (WHK-15)', async () => {
    const id = await createEndpoint();
    const after = (await service.get('/events', await service.tokenOf('A'))).json().meta.nextCursor;
    await changeRecords(1);
    await runDispatcher(dispatcher);
    let replayed: Promise<unknown> | undefined;
    await other.whileOpen('update webhook_progress set number = number + 5', [], async () => {
      replayed = request('POST', `/${id}/replay`, { after });
      await other.untilWaiting(1);
    });
    await replayed;
    const [progress] = await execute('select replay_until - number as count from webhook_progress');
    expect(Number(progress.count)).toBe(6);
  });

  it('keeps its secret until the next renewal (WHK-4)', async () => {
    await createEndpoint();
    const secrets = new SecretBox([Buffer.alloc(32, 9).toString('base64url'), TOKEN_KEY]);
    const renew = () => reencryptSecrets(service.databases.au1, secrets, service.clock.now());
    const change = 'update webhook_endpoint set updated_at = now()';
    expect(await other.whileOpen(change, [], renew)).toMatchObject({ secrets: 0 });
    expect(await renew()).toMatchObject({ secrets: 1 });
  });

  it('keeps a secret as long as it signs by the clock of the database (WHK-5)', async () => {
    await createEndpoint();
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const previous = `jsonb_build_array(jsonb_build_object('secret', secret, 'until', '${until}'))`;
    await execute(`update webhook_endpoint set previous_secrets = ${previous}`);
    const job = createReencryptionJob(service.databases, new SecretBox([TOKEN_KEY]));
    await withWrongClock(86_400_000, () => job.run('au1'));
    const [stored] = await execute('select jsonb_array_length(previous_secrets) as count from webhook_endpoint');
    expect(stored.count).toBe(1);
  });

  it('does not delay the result of an earlier delivery of its record (WHK-13)', async () => {
    await createEndpoint();
    const respond = holdResponses();
    await changeRecords(1);
    await dispatcher.poll();
    await receiver.waitFor(1);
    await changeRecords(1);
    await queueEvents(service.databases.au1.backgroundRunner, service.clock.now());
    const later = 'select 1 from webhook_delivery where number = (select max(number) from webhook_delivery) for update';
    await other.whileOpen(later, [], async () => {
      respond(500);
      await dispatcher.settle();
    });
    expect(await execute('select attempts from webhook_delivery order by number')).toEqual([
      { attempts: 1 },
      { attempts: 0 },
    ]);
  });
});

describe('results of deliveries', () => {
  it('that the database rejects prevent no others, and are repeated when their leases end (WHK-13)', async () => {
    const rejected: string[] = [];
    dispatcher = createDispatcher(service, { onRejectedResult: (endpointId) => rejected.push(endpointId) });
    const bad = await createEndpoint({ url: `${receiver.url}/rejected` });
    const good = await createEndpoint();
    const delivered = () => execute(`select endpoint_id from webhook_delivery where status = 'DELIVERED'`);
    const constraint = `check (endpoint_id <> '${bad}' or status <> 'DELIVERED')`;
    await execute(`alter table webhook_delivery add constraint test_rejects ${constraint} not valid`);
    try {
      await changeRecords(2);
      await runDispatcher(dispatcher);
    } finally {
      await execute('alter table webhook_delivery drop constraint test_rejects');
    }
    expect([rejected, receiver.received.length]).toEqual([[bad, bad], 4]);
    expect(await delivered()).toEqual([{ endpoint_id: good }, { endpoint_id: good }]);
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(4);
    await execute('update webhook_delivery set leased_until = now()');
    await runDispatcher(dispatcher);
    expect([receiver.received.length, (await delivered()).length]).toEqual([6, 4]);
  });
});
