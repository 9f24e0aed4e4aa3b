import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { WebhookEndpoint } from '../../entities/webhook-endpoint.entity.ts';
import { createListType } from '../../schema/list.ts';
import { Rest } from '../../schema/rest.ts';
import { WebhookEndpointId } from '../../schema/webhook.scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { listDeliveries } from '../../src/domain/webhooks/deliveries.ts';
import {
  createEndpoint,
  deleteEndpoint,
  type EndpointWithSecret,
  getEndpoint,
  rotateEndpointSecret,
  updateEndpoint,
} from '../../src/domain/webhooks/endpoints.ts';
import { listEndpoints } from '../../src/domain/webhooks/list-endpoints.ts';
import { startReplay } from '../../src/domain/webhooks/replay.ts';
import { sendTestEvent } from '../../src/domain/webhooks/test-event.ts';
import type { EndpointKey } from '../../src/domain/webhooks/webhook-context.ts';
import { WEBHOOK_TEST_COST } from '../../src/limits/fair-shares.ts';
import { EventCursor } from '../event/event.scalars.ts';
import { CreateWebhookEndpointArgs, DeliveryArgs, UpdateWebhookEndpointArgs } from './webhook.input.ts';
import { WebhookDeliveryPage, WebhookEndpointWithSecret, WebhookReplay, WebhookTestResult } from './webhook.type.ts';

const WebhookEndpointList = createListType(WebhookEndpoint, 'integrator');
const shared = { scope: null, clientCredentials: true, tag: 'Webhooks', extension: true } as const;
const ofEndpoint = { ...shared, params: { id: 'endpointId' } };

const toEndpointKey = (context: RequestContext, endpointId: string): EndpointKey => ({
  integratorId: context.caller.requireClientCredentials().integratorId,
  endpointId,
  scopes: context.caller.scopes,
});

const withSecret = ({ endpoint, secret }: EndpointWithSecret) =>
  Object.assign(Object.create(WebhookEndpointWithSecret.prototype), endpoint, { secret }) as WebhookEndpointWithSecret;

@Resolver(() => WebhookEndpoint)
export class WebhookResolver {
  @Query(() => WebhookEndpointList, {
    description: 'The webhook endpoints of the integrator: all of them, in the order of creation.',
  })
  @Rest('GET /webhook-endpoints', shared)
  async webhookEndpoints(@Ctx() context: RequestContext): Promise<{ data: WebhookEndpoint[] }> {
    return { data: await listEndpoints(context.database, context.caller.requireClientCredentials().integratorId) };
  }

  @Query(() => WebhookEndpoint, { description: 'One webhook endpoint.' })
  @Rest('GET /webhook-endpoints/{id}', ofEndpoint)
  webhookEndpoint(
    @Arg('endpointId', () => WebhookEndpointId) endpointId: string,
    @Ctx() context: RequestContext,
  ): Promise<WebhookEndpoint> {
    return getEndpoint(context, toEndpointKey(context, endpointId));
  }

  @Query(() => WebhookDeliveryPage, {
    description: "An endpoint's deliveries of the last 30 days, the newest first.",
  })
  @Rest('GET /webhook-endpoints/{id}/deliveries', ofEndpoint)
  webhookDeliveries(
    @Arg('endpointId', () => WebhookEndpointId) endpointId: string,
    @Args() query: DeliveryArgs,
    @Ctx() context: RequestContext,
  ): Promise<InstanceType<typeof WebhookDeliveryPage>> {
    return listDeliveries(context, toEndpointKey(context, endpointId), query);
  }

  @Mutation(() => WebhookEndpointWithSecret, {
    description:
      'Creates a webhook endpoint, which receives the events from now on, and returns its signing secret once. The same request again returns the existing endpoint without its secret.',
  })
  @Rest('POST /webhook-endpoints', {
    ...shared,
    status: 201,
    outcomes: { CREATED: 201, REPLAYED: 200 },
    conflicts: ['WEBHOOK_ENDPOINT_LIMIT'],
  })
  async createWebhookEndpoint(
    @Args() input: CreateWebhookEndpointArgs,
    @Ctx() context: RequestContext,
  ): Promise<WebhookEndpointWithSecret> {
    const created = await createEndpoint(context, context.caller.requireClientCredentials(), input);
    context.outcome = created.secret === null ? 'REPLAYED' : 'CREATED';
    return withSecret(created);
  }

  @Mutation(() => WebhookEndpoint, {
    description: 'Changes a webhook endpoint. Its events are filtered by the new values from now on.',
  })
  @Rest('PATCH /webhook-endpoints/{id}', { ...ofEndpoint, conflicts: ['CLIENT_DISABLED'] })
  updateWebhookEndpoint(
    @Arg('endpointId', () => WebhookEndpointId) endpointId: string,
    @Args() changes: UpdateWebhookEndpointArgs,
    @Ctx() context: RequestContext,
  ): Promise<WebhookEndpoint> {
    return updateEndpoint(context, toEndpointKey(context, endpointId), changes);
  }

  @Mutation(() => WebhookEndpoint, { description: 'Deletes a webhook endpoint. Its pending deliveries are not made.' })
  @Rest('DELETE /webhook-endpoints/{id}', ofEndpoint)
  deleteWebhookEndpoint(
    @Arg('endpointId', () => WebhookEndpointId) endpointId: string,
    @Ctx() context: RequestContext,
  ): Promise<WebhookEndpoint> {
    return deleteEndpoint(context, toEndpointKey(context, endpointId));
  }

  @Mutation(() => WebhookEndpointWithSecret, {
    description:
      'Gives an endpoint a new secret and returns it once. Deliveries are also signed with the previous secret for 24 hours.',
  })
  @Rest('POST /webhook-endpoints/{id}/rotate-secret', ofEndpoint)
  async rotateWebhookSecret(
    @Arg('endpointId', () => WebhookEndpointId) endpointId: string,
    @Ctx() context: RequestContext,
  ): Promise<WebhookEndpointWithSecret> {
    return withSecret(await rotateEndpointSecret(context, toEndpointKey(context, endpointId)));
  }

  @Mutation(() => WebhookTestResult, {
    description: 'Sends a test event to an endpoint, once, and returns what its receiver answered.',
  })
  @Rest('POST /webhook-endpoints/{id}/test', { ...ofEndpoint, conflicts: ['WEBHOOK_SECRET_UNREADABLE'] })
  async testWebhookEndpoint(
    @Arg('endpointId', () => WebhookEndpointId) endpointId: string,
    @Ctx() context: RequestContext,
  ): Promise<WebhookTestResult> {
    const key = toEndpointKey(context, endpointId);
    const {
      status,
      body,
      durationMs: _,
      ...result
    } = await context.shares.waits.run(context.shareKey, WEBHOOK_TEST_COST, () => sendTestEvent(context, key));
    return { ...result, responseStatus: status, responseBody: body };
  }

  @Mutation(() => WebhookReplay, {
    description: 'Delivers the events after a cursor of the feed again, one replay at a time.',
  })
  @Rest('POST /webhook-endpoints/{id}/replay', {
    ...ofEndpoint,
    status: 202,
    conflicts: ['WEBHOOK_REPLAY_RUNNING', 'WEBHOOK_ENDPOINT_NOT_ACTIVE'],
    cursorExpires: true,
  })
  replayWebhookEndpoint(
    @Arg('endpointId', () => WebhookEndpointId) endpointId: string,
    @Arg('after', () => EventCursor, { description: '`meta.nextCursor` of a page of `GET /events`.' }) after: string,
    @Ctx() context: RequestContext,
  ): Promise<WebhookReplay> {
    return startReplay(context, toEndpointKey(context, endpointId), { after });
  }
}
