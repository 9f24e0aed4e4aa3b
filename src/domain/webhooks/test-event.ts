import { LockMode } from '@mikro-orm/core';
import type { WebhookEndpoint } from '../../../entities/webhook-endpoint.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { inTransaction } from '../change-context.ts';
import { disableEndpoint, requireEndpoint, requireManageableEndpoint, signingSecrets } from './endpoints.ts';
import { type Attempt, isSuccess } from './receiver-client.ts';
import { signWebhook } from './signature.ts';
import type { EndpointKey, WebhookChangeContext } from './webhook-context.ts';

/** Result of a test event. */
interface TestResult extends Attempt {
  eventId: string;
  /** Whether the receiver returned 2xx in time. */
  succeeded: boolean;
}

/**
 * Sends a test event to an endpoint, also to a paused or disabled one, and returns what its receiver answered (WHK-14). It is attempted
 * once, after it was recorded. 410 disables the endpoint, as it does in a delivery; no other failure has consequences.
 */
export async function sendTestEvent(context: WebhookChangeContext, key: EndpointKey): Promise<TestResult> {
  const { clock, database, webhooks } = context;
  const now = clock.now();
  const { id: objectId, integratorId } = await requireManageableEndpoint(database.fork(), key);
  await inTransaction(context, (_em, _now, record) =>
    record({ action: 'webhook_endpoint.tested', objectId, integratorId }),
  );
  // Locked until the request has begun: a change of the endpoint applies to every attempt that begins after its response (WHK-6).
  const { endpoint, event, sent } = await database.transaction(async (em) => {
    const endpoint = await requireEndpoint(em, key, LockMode.PESSIMISTIC_READ);
    const event = createTestEvent(endpoint, now);
    const body = JSON.stringify(event);
    const message = { id: event.id, timestamp: Math.floor(now / 1000), body };
    const headers = signWebhook(signingSecrets(context, endpoint), message);
    return { endpoint, event, sent: webhooks.receivers.post(endpoint.url, headers, body) };
  });
  const attempt = await sent;
  const succeeded = isSuccess(attempt);
  if (attempt.status === 410) await disableEndpoint(context, endpoint, 'GONE');
  return { eventId: event.id, succeeded, ...attempt };
}

const createTestEvent = ({ id }: WebhookEndpoint, now: number) => ({
  id: newId('event', now),
  type: 'webhook_endpoint.test',
  occurredAt: new Date(now).toISOString(),
  builderId: null,
  projectId: null,
  resource: { type: 'webhook_endpoint', id, path: `/webhook-endpoints/${id}` },
});
