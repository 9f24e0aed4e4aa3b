import { createHmac } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Dispatcher } from '../../src/domain/webhooks/delivery/dispatcher.ts';
import { RETRY_DELAYS_MS } from '../../src/domain/webhooks/delivery/schedule.ts';
import { createWebhookTools } from '../../src/domain/webhooks/webhook-context.ts';
import { CLIENT_LOSSES, createDispatcher, runDispatcher } from '../support/dispatcher.ts';
import { numberPendingEvents } from '../support/events.ts';
import { TOKEN_KEY, useService } from '../support/harness.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

const HOUR = 3_600_000;

const service = useService();
let token: string;
let receiver: WebhookReceiver;
let dispatchers: Dispatcher[] = [];
let builderId: string;

beforeAll(async () => {
  await numberPendingEvents(database());
  builderId = service.findDemoClient('A').builderIds[0]!;
});

beforeEach(async () => {
  token = await service.tokenOf('A');
  receiver = await WebhookReceiver.start();
  dispatchers = [];
});
afterEach(async () => {
  for (const dispatcher of dispatchers) await dispatcher.stop(0);
  await execute('delete from webhook_endpoint');
  await execute(`update connection set status = 'ACTIVE'`);
  await receiver.close();
});
const database = () => service.databases.au1;
// biome-ignore lint/suspicious/noExplicitAny: each statement has its own rows.
const execute = (sql: string, values: unknown[] = []): Promise<any[]> => database().fork().execute(sql, values);

function startDispatcher(): Dispatcher {
  const dispatcher = createDispatcher(service);
  dispatchers.push(dispatcher);
  return dispatcher;
}

async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await service.request({ method, url: `/webhook-endpoints${path}`, headers, payload });
  return response.json();
}

const createEndpoint = (input: object = {}) =>
  call('POST', '', { url: receiver.url, types: ['project.updated'], ...input });

/** Changes projects of a builder, each in a transaction of its own, and numbers the events. */
async function changeProjects(count: number, of = builderId): Promise<void> {
  const rows = await execute('select id from project where builder_id = ? order by id limit ?', [of, count]);
  for (const { id } of rows) await execute('update project set updated_at = now() where id = ?', [id]);
  await numberPendingEvents(database());
}

/** Changes one project. */
const changeProject = () => changeProjects(1);

async function deliveriesOf(id: string) {
  return (await call('GET', `/${id}/deliveries`)).data;
}

describe('an endpoint', () => {
  it('receives each event that happens after its creation, as a POST of JSON (WHK-9, WHK-10)', async () => {
    await changeProject();
    const { id } = await createEndpoint();
    await changeProjects(3);
    const dispatcher = startDispatcher();
    await runDispatcher(dispatcher);
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(3);
    const [first] = receiver.received;
    expect(first!.headers['content-type']).toBe('application/json');
    expect(first!.event).toEqual({
      id: first!.headers['webhook-id'],
      type: 'project.updated',
      occurredAt: expect.stringMatching(/^\d{4}-.*Z$/),
      builderId,
      projectId: null,
      resource: {
        type: 'project',
        id: expect.stringMatching(/^proj_/),
        path: expect.stringMatching(`^/builders/${builderId}/projects/proj_`),
      },
    });
    const deliveries = await deliveriesOf(id);
    expect(deliveries).toHaveLength(3);
    expect(deliveries[0]).toMatchObject({ status: 'DELIVERED', attempts: 1, responseStatus: 204, nextAttemptAt: null });
    // The newest first, also of those that were read in one millisecond (WHK-12).
    const logged = await execute(`select event_id from webhook_delivery order by number desc`);
    expect(deliveries.map(({ eventId }: { eventId: string }) => eventId)).toEqual(logged.map((row) => row.event_id));
  });

  it('receives the events of its types and builders only', async () => {
    const [one, other] = service.findDemoClient('A').builderIds;
    await createEndpoint({ builderIds: [other], types: ['project.updated'] });
    await changeProjects(2, one);
    await changeProjects(1, other);
    await execute('update subcontractor set updated_at = now() where builder_id = ?', [other]);
    await numberPendingEvents(database());
    await runDispatcher(startDispatcher());
    expect(receiver.received.map(({ event }) => [event.type, event.builderId])).toEqual([['project.updated', other]]);
  });

  it('receives nothing that its client may not read (WHK-7)', async () => {
    await createEndpoint({ types: null });
    const { clientId } = service.findDemoClient('A');
    await execute(`update oauth_client set scopes = array_remove(scopes, 'read:projects') where id = ?`, [clientId]);
    await changeProject();
    const dispatcher = startDispatcher();
    await runDispatcher(dispatcher);
    expect(receiver.received).toEqual([]);
    await execute(`update oauth_client set scopes = scopes || '{read:projects}' where id = ?`, [clientId]);
  });
});

describe('a change of an endpoint that a process delivers to', () => {
  /** Returns an endpoint whose deliveries begin at the next poll, and its dispatcher. */
  async function prepare(): Promise<{ id: string; secret: string; dispatcher: Dispatcher }> {
    const { id, secret } = await createEndpoint();
    const dispatcher = startDispatcher();
    await runDispatcher(dispatcher);
    await changeProjects(2);
    return { id, secret, dispatcher };
  }

  it.each<[string, 'PATCH' | 'DELETE', object | undefined]>([
    ['it is paused', 'PATCH', { status: 'PAUSED' }],
    ['it has another address', 'PATCH', { url: 'http://127.0.0.1:9/hook' }],
    ['it has other types', 'PATCH', { types: ['photo.updated'] }],
    ['it is deleted', 'DELETE', undefined],
  ])('applies to every attempt after its response: %s (WHK-6)', async (_, method, changes) => {
    const { id, dispatcher } = await prepare();
    expect(await call(method, `/${id}`, changes)).toMatchObject({ id });
    await runDispatcher(dispatcher);
    expect(receiver.received).toEqual([]);
  });

  it.each(CLIENT_LOSSES)('applies to a client that %s (WHK-7)', async (_, change, reset) => {
    const { dispatcher } = await prepare();
    const { clientId } = service.findDemoClient('A');
    await execute(`update oauth_client set ${change} where id = ?`, [clientId]);
    await runDispatcher(dispatcher);
    await execute(`update oauth_client set ${reset} where id = ?`, [clientId]);
    expect(receiver.received).toEqual([]);
  });

  it('signs every attempt after a rotation with the new secret, and with the two before it for a day (WHK-5)', async () => {
    const { id, secret, dispatcher } = await prepare();
    const secrets = [secret];
    for (let count = 0; count < 3; count++) {
      service.clock.advance(1_000);
      secrets.push((await call('POST', `/${id}/rotate-secret`)).secret);
    }
    await runDispatcher(dispatcher);
    const isSignedWith = (index: number, received = receiver.received.at(-1)!) => {
      const key = Buffer.from(secrets[index]!.replace('whsec_', ''), 'base64');
      const { 'webhook-id': eventId, 'webhook-timestamp': at, 'webhook-signature': signature } = received.headers;
      const digest = createHmac('sha256', key).update(`${eventId}.${at}.${received.body}`).digest('base64');
      return signature!.split(' ').includes(`v1,${digest}`);
    };
    expect(secrets.map((_, index) => isSignedWith(index))).toEqual([false, true, true, true]);
    service.clock.advance(24 * HOUR - 500);
    await changeProject();
    await runDispatcher(dispatcher);
    expect(secrets.map((_, index) => isSignedWith(index))).toEqual([false, false, true, true]);
    expect(receiver.received).toHaveLength(3);
  });
});

describe('a failed delivery', () => {
  it('is attempted again under the same id, with increasing delays (WHK-11)', async () => {
    const { id } = await createEndpoint();
    receiver.respond = (_received, response) => void response.writeHead(500).end('not now');
    await changeProject();
    const dispatcher = startDispatcher();
    await runDispatcher(dispatcher);
    for (const delay of RETRY_DELAYS_MS.slice(0, 3)) {
      await runDispatcher(dispatcher);
      service.clock.advance(delay * 1.2);
      await runDispatcher(dispatcher);
    }
    expect(receiver.received).toHaveLength(4);
    expect(new Set(receiver.ids).size).toBe(1);
    token = await service.tokenOf('A');
    const [delivery] = await deliveriesOf(id);
    expect(delivery).toMatchObject({ status: 'PENDING', attempts: 4, responseStatus: 500, responseBody: 'not now' });
    receiver.respond = (_received, response) => void response.writeHead(200).end();
    service.clock.advance(HOUR);
    await runDispatcher(dispatcher);
    token = await service.tokenOf('A');
    expect((await deliveriesOf(id))[0]).toMatchObject({ status: 'DELIVERED', attempts: 5 });
  });

  it('keeps later events of its record back, and no others (WHK-13)', async () => {
    await createEndpoint();
    let failing = true;
    receiver.respond = ({ event }, response) => {
      const fails = failing && event.resource.id === receiver.received[0]!.event.resource.id;
      response.writeHead(fails ? 500 : 204).end();
    };
    await changeProject();
    const dispatcher = startDispatcher();
    await runDispatcher(dispatcher);
    await changeProjects(2);
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(2);
    expect(receiver.received[1]!.event.resource.id).not.toBe(receiver.received[0]!.event.resource.id);
    failing = false;
    service.clock.advance(10_000);
    await runDispatcher(dispatcher);
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(4);
    const sameRecord = receiver.received.filter(
      ({ event }) => event.resource.id === receiver.received[0]!.event.resource.id,
    );
    expect(sameRecord.map(({ event }) => event.id)).toEqual([receiver.ids[0], receiver.ids[0], receiver.ids[3]]);
  });

  it('is given up after three days (WHK-11)', async () => {
    const { id } = await createEndpoint();
    receiver.respond = (_received, response) => void response.writeHead(503).end();
    await changeProject();
    const dispatcher = startDispatcher();
    for (let step = 0; step < 80; step++) {
      await runDispatcher(dispatcher);
      service.clock.advance(HOUR);
    }
    token = await service.tokenOf('A');
    const [delivery] = await deliveriesOf(id);
    expect(delivery).toMatchObject({ status: 'FAILED', nextAttemptAt: null });
    expect(Date.parse(delivery.lastAttemptAt) - Date.parse(delivery.createdAt)).toBeGreaterThanOrEqual(72 * HOUR);
    expect(delivery.attempts).toBeGreaterThan(12);
    expect(await call('GET', `/${id}`)).toMatchObject({ status: 'ACTIVE' });
  });

  it('survives the process, whose endpoints another takes over (WHK-13)', async () => {
    const { id } = await createEndpoint();
    receiver.respond = (_received, response) => void response.writeHead(500).end();
    await changeProjects(2);
    await runDispatcher(startDispatcher());
    await changeProjects(2);
    // The process is killed: its leases end without a result.
    await execute('update webhook_delivery set leased_until = now()');
    receiver.respond = (_received, response) => void response.writeHead(204).end();
    service.clock.advance(10_000);
    const successor = startDispatcher();
    await runDispatcher(successor);
    await runDispatcher(successor);
    expect(new Set(receiver.ids).size).toBe(4);
    token = await service.tokenOf('A');
    expect((await deliveriesOf(id)).map(({ status }: { status: string }) => status)).toEqual(
      Array(4).fill('DELIVERED'),
    );
  });
});

describe('an endpoint is disabled', () => {
  const auditOf = (id: string) =>
    execute(
      `select actor_type, actor_id, values_before, values_after from audit_entry
        where object_id = ? and action = 'webhook_endpoint.disabled'`,
      [id],
    );
  const disabledBy = (disabledReason: string) => ({
    ...{ actor_type: 'JOB', actor_id: 'deliver events', values_before: { status: 'ACTIVE', disabledReason: null } },
    values_after: { status: 'DISABLED', disabledReason },
  });

  it('when its receiver returns 410 (WHK-11, ACC-20)', async () => {
    const { id } = await createEndpoint();
    receiver.respond = (_received, response) => void response.writeHead(410).end();
    await changeProjects(3);
    const dispatcher = startDispatcher();
    await runDispatcher(dispatcher);
    await runDispatcher(dispatcher);
    expect(await call('GET', `/${id}`)).toMatchObject({ status: 'DISABLED', disabledReason: 'GONE' });
    expect(await auditOf(id)).toEqual([disabledBy('GONE')]);
    const count = receiver.received.length;
    await changeProjects(3);
    service.clock.advance(HOUR);
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(count);
    token = await service.tokenOf('A');
    receiver.respond = (_received, response) => void response.writeHead(204).end();
    await call('PATCH', `/${id}`, { status: 'ACTIVE' });
    await runDispatcher(dispatcher);
    await runDispatcher(dispatcher);
    // It continues where it stopped.
    expect(new Set(receiver.ids).size).toBe(6);
  });

  it('after five days without a success (WHK-11, ACC-20)', async () => {
    const { id } = await createEndpoint();
    receiver.respond = (_received, response) => void response.writeHead(500).end();
    const dispatcher = startDispatcher();
    for (let hours = 0; hours < 24 * 5 + 12; hours += 2) {
      await changeProject();
      await runDispatcher(dispatcher);
      token = await service.tokenOf('A');
      if (hours === 24 * 4) expect(await call('GET', `/${id}`)).toMatchObject({ status: 'ACTIVE' });
      service.clock.advance(2 * HOUR);
    }
    await runDispatcher(dispatcher);
    token = await service.tokenOf('A');
    expect(await call('GET', `/${id}`)).toMatchObject({ status: 'DISABLED', disabledReason: 'NO_SUCCESS' });
    expect(await auditOf(id)).toEqual([disabledBy('NO_SUCCESS')]);
  });
});

describe('two processes', () => {
  it('deliver to the same endpoints, each event once (WHK-13)', async () => {
    for (let index = 0; index < 6; index++) await createEndpoint({ url: `${receiver.url}/${index}` });
    await changeProjects(2);
    const processes = [startDispatcher(), startDispatcher()] as const;
    await Promise.all(processes.map(runDispatcher));
    for (const each of processes) await runDispatcher(each);
    expect(receiver.received).toHaveLength(12);
    expect(new Set(receiver.received.map(({ path, event }) => `${path} ${event.id}`)).size).toBe(12);
  });
});

describe('a revoked connection', () => {
  const setStatus = (status: string) =>
    execute('update connection set status = ? where builder_id = ?', [status, builderId]);

  it('drops what waits for a retry, also when it is connected again later (WHK-7)', async () => {
    const { id } = await createEndpoint();
    receiver.respond = (_received, response) => void response.writeHead(500).end();
    await changeProjects(2);
    const dispatcher = startDispatcher();
    await runDispatcher(dispatcher);
    const count = receiver.received.length;
    await setStatus('REVOKED');
    await runDispatcher(dispatcher);
    await setStatus('ACTIVE');
    service.clock.advance(HOUR);
    await runDispatcher(dispatcher);
    expect(receiver.received).toHaveLength(count);
    token = await service.tokenOf('A');
    expect((await deliveriesOf(id)).map(({ status }: { status: string }) => status)).toEqual(['DROPPED', 'DROPPED']);
  });

  it('delivers no event that happened before the revocation was seen', async () => {
    await createEndpoint();
    await changeProject();
    await setStatus('REVOKED');
    await runDispatcher(startDispatcher());
    expect(receiver.received).toEqual([]);
    await setStatus('ACTIVE');
  });
});

describe('an endpoint whose key was removed from the settings', () => {
  it('waits, is reported once, and is delivered to when the key is there again (WHK-4)', async () => {
    const { id } = await createEndpoint();
    await changeProject();
    const reported: string[] = [];
    const start = (key: string) => {
      const webhooks = createWebhookTools({ production: false }, [key]);
      dispatchers.push(createDispatcher(service, { webhooks, onUnreadableSecret: (id) => reported.push(id) }));
      return dispatchers.at(-1)!;
    };
    const without = start(Buffer.alloc(32, 3).toString('base64url'));
    for (let round = 0; round < 3; round++) await runDispatcher(without);
    expect([reported, receiver.received.length, without.statistics.unreadableSecrets]).toEqual([[id], 0, 1]);
    await without.stop(0);
    const again = start(TOKEN_KEY);
    await runDispatcher(again);
    await runDispatcher(again);
    expect([receiver.received.length, again.statistics.unreadableSecrets]).toEqual([1, 0]);
  });
});

describe('a replay', () => {
  const cursorOfNow = async () => (await service.get('/events', token)).json().meta.nextCursor as string;
  const replay = async (id: string, after: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const url = `/webhook-endpoints/${id}/replay`;
    const response = await service.request({ method: 'POST', url, headers, payload: { after } });
    return { status: response.statusCode, body: response.json() };
  };

  it('delivers the events after a cursor again, under the same ids, before later ones (WHK-15)', async () => {
    const { id } = await createEndpoint();
    await changeProjects(2);
    const after = await cursorOfNow();
    await changeProjects(3);
    const dispatcher = startDispatcher();
    await runDispatcher(dispatcher);
    const delivered = receiver.ids.slice(2);
    expect(delivered).toHaveLength(3);
    const started = await replay(id, after);
    const startedAt = new Date(service.clock.now()).toISOString();
    expect(started).toEqual({ status: 202, body: { endpointId: id, startedAt } });
    expect(await replay(id, after)).toMatchObject({ status: 409, body: { code: 'WEBHOOK_REPLAY_RUNNING' } });
    await changeProject();
    for (let step = 0; step < 3; step++) await runDispatcher(dispatcher);
    expect(new Set(receiver.ids.slice(5, 8))).toEqual(new Set(delivered));
    expect(receiver.ids).toHaveLength(9);
    expect((await replay(id, after)).status).toBe(202);
  });

  it('is 409 for a paused endpoint, 400 for a text that is no cursor, and 410 for an expired one (WHK-15)', async () => {
    const { id } = await createEndpoint();
    const after = await cursorOfNow();
    expect(await replay(id, 'x')).toMatchObject({ status: 400, body: { errors: [{ fieldName: 'after' }] } });
    await call('PATCH', `/${id}`, { status: 'PAUSED' });
    expect(await replay(id, after)).toMatchObject({ status: 409, body: { code: 'WEBHOOK_ENDPOINT_NOT_ACTIVE' } });
    await call('PATCH', `/${id}`, { status: 'ACTIVE' });
    await execute('select public.renew_event_epoch()');
    expect(await replay(id, after)).toMatchObject({ status: 410, body: { code: 'CURSOR_EXPIRED' } });
  });
});
