import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Dispatcher } from '../../src/domain/webhooks/delivery/dispatcher.ts';
import { signWebhook } from '../../src/domain/webhooks/signature.ts';
import { createWebhookTools } from '../../src/domain/webhooks/webhook-context.ts';
import { createDispatcher, runDispatcher } from '../support/dispatcher.ts';
import { numberPendingEvents } from '../support/events.ts';
import { useService } from '../support/harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { type ReceivedDelivery, WebhookReceiver } from '../support/webhook-receiver.ts';

const MANY = 30_000;

const service = useService();
let receiver: WebhookReceiver;
let dispatcher: Dispatcher;
let builderId: string;

useLongerTimeLimits();
beforeAll(async () => {
  builderId = service.findDemoClient('A').builderIds[0]!;
  await numberPendingEvents(service.databases.au1);
  // So that there are numbers for deliveries that wait.
  await execute('update event_log set last_number = last_number + ?', [MANY]);
});

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  dispatcher = createDispatcher(service);
});
afterEach(async () => {
  await dispatcher.stop(0);
  await execute('delete from webhook_endpoint');
  // A trigger sets the number when the status changes.
  await execute(`update connection set status = 'ACTIVE'`);
  await execute('update connection set active_after = null');
  await execute('update oauth_client set disabled_at = null');
  await receiver.close();
});
// biome-ignore lint/suspicious/noExplicitAny: each statement has its own rows.
const execute = (sql: string, values: unknown[] = []): Promise<any[]> =>
  service.databases.au1.fork().execute(sql, values);

async function request(method: 'GET' | 'POST' | 'PATCH', path: string, payload?: object) {
  const headers = { authorization: `Bearer ${await service.tokenOf('A')}` };
  const response = await service.request({ method, url: `/webhook-endpoints${path}`, headers, payload });
  return { status: response.statusCode, body: response.json() };
}

const createEndpoint = async (url = receiver.url): Promise<string> =>
  (await request('POST', '', { url, types: ['project.updated'] })).body.id;
const cursorOfNow = async () =>
  (await service.get('/events', await service.tokenOf('A'))).json().meta.nextCursor as string;

/** Changes projects of the builder, each in a transaction of its own. */
async function changeProjects(count: number): Promise<string[]> {
  const rows = await execute('select id from project where builder_id = ? order by id limit ?', [builderId, count]);
  for (const { id } of rows) await execute('update project set updated_at = now() where id = ?', [id]);
  await numberPendingEvents(service.databases.au1);
  return rows.map(({ id }) => id);
}

/** Inserts deliveries of an endpoint that wait for a retry, of the first numbers of the log. */
const insertRetries = (endpointId: string, count: number) =>
  execute(
    `insert into webhook_delivery (id, endpoint_id, event_id, type, builder_id, number, record_id, occurred_at, status, attempts, created_at, next_attempt_at)
      select 'whd_' || ?::text || n, ?, 'evt_' || n, 'project.updated', ?, n, 'proj_waits' || n, now(), 'PENDING', 1, now(), now() + interval '1 year'
      from generate_series(1, ?::int) n`,
    [endpointId, endpointId, builderId, count],
  );

const setConnection = (status: string) =>
  execute('update connection set status = ? where builder_id = ?', [status, builderId]);
const recordIds = () => receiver.received.map(({ event }) => event.resource.id);

describe('deliveries of a builder whose connection is revoked while the endpoint is paused', () => {
  it('do not come back when both are active again, and are not listed meanwhile (WHK-7, WHK-12)', async () => {
    const id = await createEndpoint();
    receiver.respond = (_received, response) => void response.writeHead(500).end();
    await changeProjects(1);
    await runDispatcher(dispatcher);
    await request('PATCH', `/${id}`, { status: 'PAUSED' });
    await runDispatcher(dispatcher);
    await changeProjects(2);
    expect((await request('GET', `/${id}/deliveries`)).body.data).toHaveLength(1);
    await setConnection('REVOKED');
    expect((await request('GET', `/${id}/deliveries`)).body.data).toEqual([]);
    await setConnection('ACTIVE');
    receiver.respond = (_received, response) => void response.writeHead(204).end();
    receiver.received.length = 0;
    service.clock.advance(60_000);
    await request('PATCH', `/${id}`, { status: 'ACTIVE' });
    await runDispatcher(dispatcher);
    expect(receiver.received).toEqual([]);
    const [changed] = await changeProjects(1);
    await runDispatcher(dispatcher);
    expect(recordIds()).toEqual([changed]);
  });
});

describe('a replay', () => {
  it('beside a delivery that waits for a retry keeps the order of the record (WHK-13, WHK-15)', async () => {
    const id = await createEndpoint();
    const after = await cursorOfNow();
    await changeProjects(1);
    await runDispatcher(dispatcher);
    receiver.respond = (_received, response) => void response.writeHead(500).end();
    await changeProjects(1);
    await runDispatcher(dispatcher);
    const [delivered, failed] = receiver.ids;
    receiver.respond = (_received, response) => void response.writeHead(204).end();
    receiver.received.length = 0;
    expect((await request('POST', `/${id}/replay`, { after })).status).toBe(202);
    service.clock.advance(60_000);
    await runDispatcher(dispatcher);
    expect(receiver.ids).toEqual([delivered, failed]);
  });

  it('is 409 while the endpoint is paused because its client is disabled (WHK-15)', async () => {
    const other = service.findDemoClient('A');
    const id = await createEndpoint();
    const after = await cursorOfNow();
    const token = await service.tokenOf('A');
    await execute(
      `insert into oauth_client select (jsonb_populate_record(oauth_client, '{"id": "cli_off"}'::jsonb)).* from oauth_client where id = ?`,
      [other.clientId],
    );
    await execute(`update oauth_client set disabled_at = now() where id = 'cli_off'`);
    await execute(`update webhook_endpoint set client_id = 'cli_off' where id = ?`, [id]);
    const headers = { authorization: `Bearer ${token}` };
    const url = `/webhook-endpoints/${id}/replay`;
    const response = await service.request({ method: 'POST', url, headers, payload: { after } });
    expect([response.statusCode, response.json().code]).toEqual([409, 'WEBHOOK_ENDPOINT_NOT_ACTIVE']);
  });
});

describe('an endpoint whose receiver rejects some events', () => {
  it('receives the others, however many wait for a retry (WHK-13)', async () => {
    const id = await createEndpoint();
    await insertRetries(id, 2_000);
    const [changed] = await changeProjects(1);
    await runDispatcher(dispatcher);
    expect(recordIds()).toEqual([changed]);
  });

  it('reads no more while it has 20,000 unfinished deliveries, and others read on (WHK-13)', async () => {
    await createEndpoint(`${receiver.url}/less`);
    const full = await createEndpoint(`${receiver.url}/full`);
    await insertRetries(full, 20_000);
    const [changed] = await changeProjects(1);
    await runDispatcher(dispatcher);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook/less']);
    await execute(`update webhook_delivery set status = 'FAILED' where endpoint_id = ? and number = 1`, [full]);
    await runDispatcher(dispatcher);
    expect([receiver.received.length, recordIds().at(-1)]).toEqual([2, changed]);
  });

  it('reads no more while 1,000 are due', async () => {
    const id = await createEndpoint();
    await insertRetries(id, 1_000);
    await execute(
      `update webhook_delivery set next_attempt_at = '2000-01-01', record_id = 'proj_same', leased_until = '2100-01-01'`,
    );
    await changeProjects(1);
    await runDispatcher(dispatcher);
    expect(receiver.received).toEqual([]);
    await execute(`update webhook_delivery set status = 'FAILED' where number = 1`);
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('deliveries of a suspended endpoint', () => {
  /** Returns an endpoint with deliveries that wait for a retry. */
  async function suspendEndpoint(count: number): Promise<string> {
    const id = await createEndpoint();
    await insertRetries(id, count);
    await execute(`update webhook_progress set suspended_until = now() + interval '1 year' where endpoint_id = ?`, [
      id,
    ]);
    return id;
  }

  /** Returns the number of the endpoint's deliveries that are pending, and the first of their numbers. */
  const readPendingRange = async (endpointId: string): Promise<[count: number, first: number | null]> => {
    const sql = `select count(*)::int, min(number)::int from webhook_delivery where endpoint_id = ? and status = 'PENDING'`;
    const [{ count, min }] = await execute(sql, [endpointId]);
    return [count, min];
  };

  it('are dropped by a revocation, and do not come back when the builder is connected again (WHK-7)', async () => {
    const id = await suspendEndpoint(2_300);
    const [, other] = service.findDemoClient('A').builderIds;
    await execute('update webhook_delivery set builder_id = ? where number > 2000', [other]);
    await setConnection('REVOKED');
    await setConnection('ACTIVE');
    expect(await readPendingRange(id)).toEqual([300, 2_001]);
    expect(
      await execute(`select count(*)::int from webhook_delivery where status = 'DROPPED' and next_attempt_at is null`),
    ).toEqual([{ count: 2_000 }]);
  });

  it('are attempted only if they follow the last connection of the builder (WHK-7)', async () => {
    // More than one statement claims.
    const id = await suspendEndpoint(100);
    await execute('update connection set active_after = 99 where builder_id = ?', [builderId]);
    await request('PATCH', `/${id}`, { status: 'ACTIVE' });
    await execute(`update webhook_delivery set next_attempt_at = '2000-01-01'`);
    await runDispatcher(dispatcher);
    expect([receiver.ids, await readPendingRange(id)]).toEqual([['evt_100'], [0, null]]);
  });
});

describe('an endpoint that is far behind', () => {
  it('does not delay the others while it reads the log', async () => {
    const behind = await createEndpoint(`${receiver.url}/behind`);
    await execute(
      `insert into event select last_day, n, 'evt_old' || n, 'project.updated', 'proj_old' || n, ?, null, null, now()
        from event_log, generate_series(20001, 22000) n`,
      [builderId],
    );
    await execute('update webhook_progress set number = 20000 where endpoint_id = ?', [behind]);
    await createEndpoint();
    const [changed] = await changeProjects(1);
    await dispatcher.poll();
    await dispatcher.settle();
    const received = receiver.received.filter(({ path }) => path === '/hook');
    expect(received.map(({ event }) => event.resource.id)).toEqual([changed]);
    expect(await execute('select number::int from webhook_progress where endpoint_id = ?', [behind])).toEqual([
      { number: 20_200 },
    ]);
    await execute(`delete from event where id like 'evt_old%'`);
  });
});

describe('the requests to the endpoints of an integrator', () => {
  it('are at most 64 at a time, and one more for each endpoint that has none (WHK-13)', async () => {
    const changeTimesheets = async () => {
      await execute(
        'update timesheet set hours = hours where id in (select id from timesheet where builder_id = ? order by id limit 40)',
        [builderId],
      );
      await numberPendingEvents(service.databases.au1);
    };
    const create = (name: string) =>
      request('POST', '', { url: `${receiver.url}${name}`, types: ['timesheet.updated'] });
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create(name);
    // Each success allows an endpoint one more at a time, up to 16.
    await changeTimesheets();
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(5 * 40);
    const held: (() => void)[] = [];
    receiver.respond = (_received, response) => void held.push(() => response.writeHead(204).end());
    await changeTimesheets();
    await dispatcher.poll();
    await receiver.waitFor(5 * 40 + 64);
    expect(dispatcher.statistics.inFlight).toBe(64);
    await create('f');
    await changeTimesheets();
    await dispatcher.poll();
    await receiver.waitFor(5 * 40 + 65);
    expect(dispatcher.statistics.inFlight).toBe(65);
    receiver.respond = (_received, response) => void response.writeHead(204).end();
    for (const respond of held) respond();
  });
});

describe('POST /webhook-endpoints/{id}/test', () => {
  it('disables an endpoint whose receiver returns 410 (WHK-11, WHK-14)', async () => {
    const id = await createEndpoint();
    receiver.respond = (_received, response) => void response.writeHead(410).end();
    expect((await request('POST', `/${id}/test`)).body).toMatchObject({ succeeded: false, responseStatus: 410 });
    expect((await request('GET', `/${id}`)).body).toMatchObject({ status: 'DISABLED', disabledReason: 'GONE' });
    const entries = await execute(`select values_after from audit_entry where object_id = ? and actor_type = 'JOB'`, [
      id,
    ]);
    expect(entries).toEqual([{ values_after: { status: 'DISABLED', disabledReason: 'GONE' } }]);
  });

  it('is 409 while no key decrypts the secret, which a rotation repairs at once (WHK-5, WHK-14)', async () => {
    const id = await createEndpoint();
    const { secrets } = createWebhookTools({ production: false }, [Buffer.alloc(32, 3).toString('base64url')]);
    await execute('update webhook_endpoint set secret = ? where id = ?', [secrets.encrypt('whsec_AAAA', id), id]);
    expect(await request('POST', `/${id}/test`)).toMatchObject({
      status: 409,
      body: { code: 'WEBHOOK_SECRET_UNREADABLE', message: expect.stringContaining('Rotate the secret') },
    });
    expect(receiver.received).toEqual([]);
    const { secret } = (await request('POST', `/${id}/rotate-secret`)).body;
    expect((await request('POST', `/${id}/test`)).body.succeeded).toBe(true);
    const [{ headers, body }] = receiver.received as [ReceivedDelivery];
    const message = { id: headers['webhook-id']!, timestamp: Number(headers['webhook-timestamp']), body };
    expect(headers).toMatchObject(signWebhook([secret], message));
  });

  it('is 429 beyond four at a time of an integrator (WHK-14)', async () => {
    const id = await createEndpoint();
    const held: (() => void)[] = [];
    receiver.respond = (_received, response) => void held.push(() => response.writeHead(204).end());
    const tests = Array.from({ length: 4 }, () => request('POST', `/${id}/test`));
    await receiver.waitFor(4);
    expect((await request('POST', `/${id}/test`)).status).toBe(429);
    for (const respond of held) respond();
    expect((await Promise.all(tests)).map(({ body }) => body.succeeded)).toEqual([true, true, true, true]);
  });
});

describe('background work', () => {
  it('has connections of its own, so that slow reads do not delay it', async () => {
    const { slowRunner, backgroundRunner } = service.databases.au1;
    const blocker = service.databases.au1.orm.em.fork();
    await blocker.begin();
    await blocker.execute('select pg_advisory_xact_lock(4711)');
    const wait = { name: 'test.wait', text: 'select pg_advisory_xact_lock_shared(4711)' };
    const slow = Array.from({ length: 16 }, () => slowRunner.run(wait, []));
    await changeProjects(1);
    expect((await backgroundRunner.run({ name: 'test.one', text: 'select 1' }, []))[0]).toEqual(['1']);
    await blocker.commit();
    await Promise.all(slow);
  });
});
