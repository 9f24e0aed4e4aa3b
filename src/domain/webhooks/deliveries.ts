import { WebhookDelivery } from '../../../entities/webhook-delivery.entity.ts';
import { WebhookEndpoint } from '../../../entities/webhook-endpoint.entity.ts';
import type { WebhookDeliveryStatus } from '../../../schema/webhook.scalars.ts';
import type { Database } from '../../database/database.ts';
import { EventFilter } from '../events/event-filter.ts';
import { readAudiences } from './delivery/audiences.ts';
import { requireEndpoint } from './endpoints.ts';
import type { EndpointKey, WebhookContext } from './webhook-context.ts';

/** Deliveries per page. */
const DELIVERY_LIMIT = 25;

interface DeliveryQuery {
  status?: WebhookDeliveryStatus | null;
  /** `nextCursor` of the page before. */
  after?: string | null;
  limit?: number | null;
}

interface DeliveryPage {
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
  query: DeliveryQuery,
): Promise<DeliveryPage> {
  const { id } = await requireEndpoint(database.fork(), key);
  return (await listDeliveriesOf(database, [id], query)).get(id)!;
}

const SELECT_IDS = `select delivery.id from jsonb_to_recordset(?::jsonb) as endpoint (id text, types jsonb, groups jsonb)
    cross join lateral (select id from webhook_delivery
      where endpoint_id = endpoint.id and endpoint.types -> (endpoint.groups ->> builder_id) @> to_jsonb(type)
        and (?::text is null or status = ?) and (?::text is null or id < ?)
      order by id desc limit ?) delivery`;

/** Returns the same page of each of several endpoints, by endpoint. */
export async function listDeliveriesOf(
  database: Database,
  endpointIds: readonly string[],
  { status = null, after = null, limit }: DeliveryQuery,
): Promise<Map<string, DeliveryPage>> {
  const em = database.fork();
  const count = limit ?? DELIVERY_LIMIT;
  const endpoints = await em.find(WebhookEndpoint, { id: { $in: [...endpointIds] } }, { fields: ['id', 'clientId'] });
  const audiences = await readAudiences(database.runner, [...new Set(endpoints.map(({ clientId }) => clientId))]);
  const filters = endpoints.map(({ id, clientId }) => {
    const filter = new EventFilter(audiences.get(clientId)!, { types: null, builderIds: null });
    return { id, ...filter.toParameters() };
  });
  const parameters = filters.map(({ id, types, groups }) => `{"id":"${id}","types":${types},"groups":${groups}}`);
  const values = [`[${parameters}]`, status, status, after || null, after || null, count + 1];
  const ids = (await em.execute<{ id: string }[]>(SELECT_IDS, values)).map(({ id }) => id);
  const found = await em.find(WebhookDelivery, { id: { $in: ids } }, { orderBy: { id: 'desc' } });
  return new Map(
    endpointIds.map((endpointId) => {
      const data = found.filter((delivery) => delivery.endpointId === endpointId);
      const page = data.slice(0, count);
      return [endpointId, { data: page, meta: { nextCursor: data.length > count ? page.at(-1)!.id : null } }];
    }),
  );
}
