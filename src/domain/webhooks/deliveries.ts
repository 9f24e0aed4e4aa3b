import { WebhookDelivery } from '../../../entities/webhook-delivery.entity.ts';
import type { WebhookDeliveryStatus } from '../../../schema/webhook.scalars.ts';
import { EventFilter } from '../events/event-filter.ts';
import { readAudiences } from './delivery/audiences.ts';
import { requireEndpoint } from './endpoints.ts';
import type { EndpointKey, WebhookContext } from './webhook-context.ts';

/** Deliveries per page. */
export const DELIVERY_LIMIT = 25;

export interface DeliveryQuery {
  status?: WebhookDeliveryStatus | null;
  /** `nextCursor` of the page before. */
  after?: string | null;
  limit?: number | null;
}

export interface DeliveryPage {
  data: WebhookDelivery[];
  meta: { nextCursor: string | null };
}

/**
 * Returns an endpoint's deliveries of the last 30 days that its client may see now (WHK-7), the newest first. A page costs the same at any
 * position (WHK-12).
 */
export async function listDeliveries(
  { database }: WebhookContext,
  key: EndpointKey,
  { status, after, limit }: DeliveryQuery,
): Promise<DeliveryPage> {
  const em = database.fork();
  const endpoint = await requireEndpoint(em, key);
  const count = limit ?? DELIVERY_LIMIT;
  const audience = (await readAudiences(database.runner, [endpoint.clientId])).get(endpoint.clientId);
  const groups = audience ? new EventFilter(audience, { types: null, builderIds: null }).toGroups() : [];
  const $or = groups.map(({ types, builderIds }) => ({ type: { $in: types }, builderId: { $in: builderIds } }));
  if ($or.length === 0) return { data: [], meta: { nextCursor: null } };
  const where = { endpointId: endpoint.id, $or, ...(status && { status }), ...(after && { id: { $lt: after } }) };
  const data = await em.find(WebhookDelivery, where, { orderBy: { id: 'desc' }, limit: count + 1 });
  const page = data.slice(0, count);
  return { data: page, meta: { nextCursor: data.length > count ? page.at(-1)!.id : null } };
}
