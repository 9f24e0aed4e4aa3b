import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import type { Dispatcher } from '../../src/domain/webhooks/delivery/dispatcher.ts';
import {
  createEndpoint,
  deleteEndpoint,
  rotateEndpointSecret,
  updateEndpoint,
} from '../../src/domain/webhooks/endpoints.ts';
import { signWebhook } from '../../src/domain/webhooks/signature.ts';
import { sendTestEvent } from '../../src/domain/webhooks/test-event.ts';
import {
  createWebhookTools,
  type EndpointKey,
  type WebhookChangeContext,
} from '../../src/domain/webhooks/webhook-context.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { createDispatcher, runDispatcher } from '../support/dispatcher.ts';
import { numberPendingEvents } from '../support/events.ts';
import { TOKEN_KEY, useService } from '../support/harness.ts';
import { type ReceivedDelivery, WebhookReceiver } from '../support/webhook-receiver.ts';

const service = useService();
let receiver: WebhookReceiver;
let lock: ConcurrentTransaction;
let dispatcher: Dispatcher;
let context: WebhookChangeContext;

beforeAll(async () => {
  const webhooks = createWebhookTools({ production: false }, [TOKEN_KEY]);
  const source = { actor: { type: 'JOB' as const, id: 'test' }, origin: {} };
  context = { database: service.databases.au1, clock: service.clock, webhooks, source };
  await numberPendingEvents(context.database);
});

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  lock = await ConcurrentTransaction.open(service.databases.au1.url);
  dispatcher = createDispatcher(service);
});
afterEach(async () => {
  await dispatcher.stop(0);
  await lock.close();
  await receiver.close();
});
/** Adds an endpoint, whose receiver has rejected the first attempt of a delivery. */
async function addEndpoint(): Promise<{ key: EndpointKey; secret: string }> {
  const { clientId, builderIds } = service.findDemoClient('A');
  const em = context.database.fork();
  const integratorId = (await em.findOneOrFail(OAuthClient, clientId)).integratorId!;
  const created = await createEndpoint(
    context,
    { integratorId, clientId },
    { url: receiver.url, types: ['project.updated'] },
  );
  receiver.respond = (_received, response) => void response.writeHead(500).end();
  const changed = `update project set updated_at = now() where id = (select min(id) from project where builder_id = ?)`;
  await em.execute(changed, [builderIds[0]]);
  await numberPendingEvents(context.database);
  await runDispatcher(dispatcher);
  expect(receiver.received.splice(0)).toHaveLength(1);
  return { key: { integratorId, endpointId: created.endpoint.id }, secret: created.secret! };
}

const isSignedWith = (secret: string, { headers, body }: ReceivedDelivery) => {
  const message = { id: headers['webhook-id']!, timestamp: Number(headers['webhook-timestamp']), body };
  return headers['webhook-signature']!.includes(signWebhook([secret], message)['webhook-signature']);
};

describe('a delivery that waits for what its client may see', () => {
  /** Begins an attempt, makes the change while it waits for the connections, and lets it continue. */
  async function changeDuringAttempt(change: () => Promise<unknown>): Promise<void> {
    service.clock.advance(60_000);
    let polled: Promise<unknown> | undefined;
    await lock.whileOpen('lock table connection in access exclusive mode', [], async () => {
      polled = dispatcher.poll();
      await lock.untilWaiting(1);
      await change();
    });
    await polled;
    await dispatcher.settle();
  }

  it.each<[string, (key: EndpointKey) => Promise<unknown>]>([
    ['is paused', (key) => updateEndpoint(context, key, { status: 'PAUSED' })],
    ['has another address', (key) => updateEndpoint(context, key, { url: 'http://127.0.0.1:9/' })],
    ['is deleted', (key) => deleteEndpoint(context, key)],
  ])('is not sent when the endpoint meanwhile %s (WHK-6)', async (_title, change) => {
    const { key } = await addEndpoint();
    await changeDuringAttempt(() => change(key));
    expect(receiver.received).toEqual([]);
  });

  it('is sent as the endpoint is afterwards while a change of it is being stored (WHK-6)', async () => {
    const { key } = await addEndpoint();
    const other = await WebhookReceiver.start();
    service.clock.advance(60_000);
    const change = 'update webhook_endpoint set url = $1 where id = $2';
    await lock.whileOpen(change, [other.url, key.endpointId], () => runDispatcher(dispatcher));
    expect([receiver.received, other.received]).toEqual([[], []]);
    await runDispatcher(dispatcher);
    expect(receiver.received).toEqual([]);
    expect(other.received).toHaveLength(1);
    await other.close();
  });

  it('is signed with a secret that has replaced another meanwhile (WHK-5)', async () => {
    const { key } = await addEndpoint();
    let secret: string | null = null;
    await changeDuringAttempt(async () => {
      ({ secret } = await rotateEndpointSecret(context, key));
    });
    expect(receiver.received.map((received) => isSignedWith(secret!, received))).toEqual([true]);
  });
});

describe('a delivery whose claim is not committed yet', () => {
  /** Statements that let each transaction that claims a delivery wait before its end, for a lock that the test holds. */
  const DELAY_COMMIT = [
    `create function wait_for_test() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(1); return null; end'`,
    `create constraint trigger wait_for_test after update on webhook_delivery deferrable initially deferred
      for each row execute function wait_for_test()`,
  ];

  it('has begun its request, and a change of the endpoint waits for it (WHK-6)', async () => {
    const { key } = await addEndpoint();
    const em = context.database.fork();
    for (const statement of DELAY_COMMIT) await em.execute(statement);
    service.clock.advance(60_000);
    let hasChanged = false;
    let polled: Promise<unknown> | undefined;
    let changed: Promise<unknown> | undefined;
    await lock.whileOpen('select pg_advisory_xact_lock(1)', [], async () => {
      polled = dispatcher.poll();
      await lock.untilWaiting(1);
      await expect.poll(() => receiver.received.length).toBe(1);
      changed = updateEndpoint(context, key, { url: 'http://127.0.0.1:9/' }).then(() => {
        hasChanged = true;
      });
      await lock.untilWaiting(2);
      expect(hasChanged).toBe(false);
    });
    await Promise.all([polled, changed]);
    await em.execute('drop function wait_for_test cascade');
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a test event that waits for the scopes of its caller', () => {
  it('is sent to the address and with the secrets that the endpoint has afterwards (WHK-6, WHK-14)', async () => {
    const { key } = await addEndpoint();
    // Responses of a paused endpoint do not read its client.
    await updateEndpoint(context, key, { status: 'PAUSED' });
    const other = await WebhookReceiver.start();
    const scopes = new Set(service.findDemoClient('A').scopes);
    let test: ReturnType<typeof sendTestEvent> | undefined;
    let secret: string | null = null;
    await lock.whileOpen('lock table oauth_client in access exclusive mode', [], async () => {
      test = sendTestEvent(context, { ...key, scopes });
      await lock.untilWaiting(1);
      await updateEndpoint(context, key, { url: other.url });
      ({ secret } = await rotateEndpointSecret(context, key));
    });
    expect(await test).toMatchObject({ succeeded: true });
    expect(other.received.map((received) => isSignedWith(secret!, received))).toEqual([true]);
    await other.close();
  });
});
