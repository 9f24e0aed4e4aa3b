import type { WebhookDelivery } from '../../../../entities/webhook-delivery.entity.ts';
import type { WebhookEndpoint } from '../../../../entities/webhook-endpoint.entity.ts';
import { isStaffActionAllowed } from '../../../domain/access/staff-roles.ts';
import { eventTypes } from '../../../domain/events/event-types.ts';
import { listDeliveriesOf } from '../../../domain/webhooks/deliveries.ts';
import {
  createEndpoint,
  deleteEndpoint,
  type EndpointWithSecret,
  findOwner,
  getEndpoint,
  rotateEndpointSecret,
  updateEndpoint,
} from '../../../domain/webhooks/endpoints.ts';
import { findProgressOf, listEndpointPage } from '../../../domain/webhooks/list-endpoints.ts';
import { startReplay } from '../../../domain/webhooks/replay.ts';
import { sendTestEvent } from '../../../domain/webhooks/test-event.ts';
import { WEBHOOK_TEST_COST } from '../../../limits/fair-shares.ts';
import { loadClient, loadIntegrator } from '../access/find-access.ts';
import { type ConsoleArea, type ConsoleContext, changeOperation, listOperation } from '../console-area.ts';
import { loadBatched } from '../load-batched.ts';
import { toLimit, toNamedPage } from '../page.ts';
import { webhookTypes } from './webhooks.schema.ts';

const toSecret = ({ endpoint, secret }: EndpointWithSecret) => ({ ...endpoint, secret });

const loadProgress = (context: ConsoleContext, endpointId: string) =>
  loadBatched(context, 'webhook progress', endpointId, findProgressOf);

/** Webhook endpoints and their deliveries. */
export const webhookArea: ConsoleArea = {
  types: webhookTypes,
  pages: ['WebhookEndpoint'],
  queries: {
    webhookEndpoints: listOperation('access.read', async ({ database }, filter, page) =>
      toNamedPage(await listEndpointPage(database, filter, page)),
    ),
    webhookEndpoint: { action: 'access.read', resolve: (_, key, context) => getEndpoint(context, key) },
    eventTypes: {
      action: 'access.read',
      maxRecords: eventTypes.size,
      resolve: () =>
        [...eventTypes]
          .map(([type, scope]) => ({ type, scope }))
          .sort((one, other) => one.type.localeCompare(other.type)),
    },
  },
  mutations: {
    createWebhookEndpoint: changeOperation('webhook_endpoint.created', async (change, { clientId, ...input }) =>
      toSecret(await createEndpoint(change, await findOwner(change, clientId), input)),
    ),
    updateWebhookEndpoint: changeOperation('webhook_endpoint.updated', (change, { endpointId, url, ...changes }) =>
      updateEndpoint(change, { endpointId }, { ...changes, url: url ?? undefined }),
    ),
    deleteWebhookEndpoint: changeOperation('webhook_endpoint.deleted', deleteEndpoint),
    rotateWebhookSecret: changeOperation('webhook_endpoint.secret_rotated', async (change, key) =>
      toSecret(await rotateEndpointSecret(change, key)),
    ),
    testWebhookEndpoint: changeOperation('webhook_endpoint.tested', async (change, key, { shares, shareKey }) => {
      const attempt = await shares.waits.run(shareKey, WEBHOOK_TEST_COST, () => sendTestEvent(change, key));
      const { status, body, durationMs: _ms, ...result } = attempt;
      return { ...result, responseStatus: status, responseBody: body };
    }),
    replayWebhookEndpoint: changeOperation('webhook_endpoint.replayed', (change, { from, ...key }) =>
      startReplay(change, key, from),
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
      replayRemaining: async ({ id }: WebhookEndpoint, _, context) => {
        const { number, replayUntil } = (await loadProgress(context, id))!;
        return replayUntil === null ? null : Number(replayUntil) - Number(number);
      },
      deliveries: ({ id }: WebhookEndpoint, { limit, ...query }, context) => {
        const window = { ...query, limit: toLimit(limit) };
        return loadBatched(context, `deliveries ${JSON.stringify(window)}`, id, (database, ids) =>
          listDeliveriesOf(database, ids, window),
        );
      },
    },
  },
};
