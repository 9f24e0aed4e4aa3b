import { OAuthClient } from '../../../../entities/oauth-client.entity.ts';
import type { WebhookDelivery } from '../../../../entities/webhook-delivery.entity.ts';
import { WebhookEndpoint } from '../../../../entities/webhook-endpoint.entity.ts';
import { parseId } from '../../../domain/access/access-values.ts';
import { InvalidInputError } from '../../../domain/access/invalid-input-error.ts';
import { isStaffActionAllowed } from '../../../domain/access/staff-roles.ts';
import { encodeEventCursor } from '../../../domain/events/event-cursor.ts';
import { findPositionBefore, readHead } from '../../../domain/events/event-log.ts';
import { listDeliveriesOf } from '../../../domain/webhooks/deliveries.ts';
import {
  createEndpoint,
  deleteEndpoint,
  type EndpointWithSecret,
  getEndpoint,
  rotateEndpointSecret,
  updateEndpoint,
} from '../../../domain/webhooks/endpoints.ts';
import { findProgressOf, listEndpointPage } from '../../../domain/webhooks/list-endpoints.ts';
import { startReplay } from '../../../domain/webhooks/replay.ts';
import { sendTestEvent } from '../../../domain/webhooks/test-event.ts';
import { WEBHOOK_TEST_COST } from '../../../limits/fair-shares.ts';
import { notFound } from '../../../shared/errors.ts';
import { loadClient, loadIntegrator } from '../access/find-access.ts';
import { type ConsoleArea, type ConsoleContext, changeOperation, listOperation } from '../console-area.ts';
import { loadBatched } from '../load-batched.ts';
import { toLimit, toPage } from '../page.ts';
import { webhookTypes } from './webhooks.schema.ts';

/** Returns the key of an endpoint, whichever integrator it belongs to. Throws 404. */
async function findKey({ database }: ConsoleContext, endpointId: string) {
  const found = await database.fork().findOne(WebhookEndpoint, { id: endpointId, deletedAt: null });
  if (!found) throw notFound('Webhook endpoint');
  return { endpointId, integratorId: found.integratorId };
}

/** Returns the owner of an endpoint that the client creates. */
async function findOwner({ database }: ConsoleContext, id: string) {
  const client = await database.fork().findOne(OAuthClient, { id: parseId('clientId', 'client', id) });
  if (!client?.integratorId || !client.grants.includes('client_credentials')) {
    throw new InvalidInputError('clientId', 'is not a client-credentials client of an integrator');
  }
  return { clientId: client.id, integratorId: client.integratorId };
}

const toSecret = ({ endpoint, secret }: EndpointWithSecret) => ({ ...endpoint, secret });

const loadProgress = (context: ConsoleContext, endpointId: string) =>
  loadBatched(context, 'webhook progress', endpointId, findProgressOf);

/** Webhook endpoints and their deliveries. */
export const webhookArea: ConsoleArea = {
  types: webhookTypes,
  pages: ['WebhookEndpoint'],
  queries: {
    webhookEndpoints: listOperation('access.read', async ({ database }, filter, page) => {
      const { endpoints, nextCursor } = await listEndpointPage(database, filter, page);
      return toPage(endpoints, nextCursor);
    }),
    webhookEndpoint: {
      action: 'access.read',
      resolve: async (_, { endpointId }, context) => getEndpoint(context, await findKey(context, endpointId)),
    },
  },
  mutations: {
    createWebhookEndpoint: changeOperation(
      'webhook_endpoint.created',
      async (change, { clientId, ...input }, context) =>
        toSecret(await createEndpoint(change, await findOwner(context, clientId), input)),
    ),
    updateWebhookEndpoint: changeOperation(
      'webhook_endpoint.updated',
      async (change, { endpointId, url, ...changes }, context) =>
        updateEndpoint(change, await findKey(context, endpointId), { ...changes, url: url ?? undefined }),
    ),
    deleteWebhookEndpoint: changeOperation('webhook_endpoint.deleted', async (change, { endpointId }, context) =>
      deleteEndpoint(change, await findKey(context, endpointId)),
    ),
    rotateWebhookSecret: changeOperation('webhook_endpoint.secret_rotated', async (change, { endpointId }, context) =>
      toSecret(await rotateEndpointSecret(change, await findKey(context, endpointId))),
    ),
    testWebhookEndpoint: changeOperation('webhook_endpoint.tested', async (change, { endpointId }, context) => {
      const key = await findKey(context, endpointId);
      const send = () => sendTestEvent(change, key);
      const attempt = await context.shares.waits.run(context.shareKey, WEBHOOK_TEST_COST, send);
      const { status, body, durationMs: _ms, ...result } = attempt;
      return { ...result, responseStatus: status, responseBody: body };
    }),
    replayWebhookEndpoint: changeOperation(
      'webhook_endpoint.replayed',
      async (change, { endpointId, from }, context) => {
        const key = await findKey(context, endpointId);
        const position = await findPositionBefore(context.database, from.since);
        return startReplay(change, key, encodeEventCursor(context.region, await readHead(context.database), position));
      },
    ),
  },
  fields: {
    WebhookDelivery: {
      // A response of a receiver may contain its secrets, and data of people.
      responseBody: ({ responseBody }: WebhookDelivery, _, { staff }) =>
        isStaffActionAllowed(staff.role, 'webhook_endpoint.tested') ? responseBody : null,
    },
    WebhookEndpoint: {
      // Paths and queries of receivers may be secret.
      url: ({ url }: WebhookEndpoint, _, { staff }) =>
        isStaffActionAllowed(staff.role, 'webhook_endpoint.updated') ? url : new URL(url).origin,
      integrator: ({ integratorId }: WebhookEndpoint, _, context) => loadIntegrator(context, integratorId),
      client: ({ clientId }: WebhookEndpoint, _, context) => loadClient(context, clientId),
      failures: async ({ id }: WebhookEndpoint, _, context) => (await loadProgress(context, id))!.failures,
      failingSince: async ({ id }: WebhookEndpoint, _, context) => (await loadProgress(context, id))!.failingSince,
      suspendedUntil: async ({ id }: WebhookEndpoint, _, context) => (await loadProgress(context, id))!.suspendedUntil,
      replaying: async ({ id }: WebhookEndpoint, _, context) => (await loadProgress(context, id))!.replayUntil !== null,
      deliveries: ({ id }: WebhookEndpoint, { limit, ...query }, context) => {
        const window = { ...query, limit: toLimit(limit) };
        return loadBatched(context, `deliveries ${JSON.stringify(window)}`, id, (database, ids) =>
          listDeliveriesOf(database, ids, window),
        );
      },
    },
  },
};
