import { WebhookDelivery } from '../../../entities/webhook-delivery.entity.ts';
import { WebhookDeliveryStatus } from '../../../schema/webhook.scalars.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { maySee, TYPE_SCOPES } from './delivery/active-endpoints.ts';
import { requireManageableEndpoint } from './endpoints.ts';
import type { EndpointKey, WebhookContext } from './webhook-context.ts';

// SQL: a page reads an index from its cursor on.

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
 * position, and passes over a bounded number of deliveries that do not match (WHK-12): `nextCursor` may follow a page that is not full.
 */
export async function listDeliveries(
  { database }: WebhookContext,
  key: EndpointKey,
  query: DeliveryQuery,
): Promise<DeliveryPage> {
  const { id } = await requireManageableEndpoint(database.fork(), key);
  return (await listDeliveriesOf(database, [id], query)).get(id)!;
}

/** Most deliveries that one page passes over. It bounds the cost of a page when few of them match (WHK-12). */
const MAX_SCANNED = 5_000;

/** Greater than the id of every delivery. */
const FROM_NEWEST = 'x';

/**
 * Returns a statement for the matching deliveries, and for the last one of a scan that does not reach the end. The status is part of the
 * text, so that a prepared statement finds the partial index, which has the deliveries of every other status than `DELIVERED`.
 */
function toStatement(status: WebhookDeliveryStatus | null): Statement {
  const condition = status ? `and status = '${WebhookDeliveryStatus[status]}'` : '';
  const isIndexed = status !== 'DELIVERED';
  return {
    name: `webhooks.deliveries-${status?.toLowerCase() ?? 'all'}`,
    text: `select endpoint.id, delivery.id, is_match, position = ${MAX_SCANNED}
      from webhook_endpoint endpoint join oauth_client client on client.id = endpoint.client_id
        cross join lateral (select * from (
          select id, row_number() over (order by id desc) as position,
            ${maySee({ event: 'made', clientScopes: 'client.scopes', typeScopes: '$4' })} ${isIndexed ? '' : condition} as is_match
          from webhook_delivery made where endpoint_id = endpoint.id ${isIndexed ? condition : ''} and id < $2::text
          order by id desc limit ${MAX_SCANNED}) scanned
        where is_match or position = ${MAX_SCANNED} order by id desc limit $3::int) delivery
      where endpoint.id = any($1::text[])`.replace(/\s+/g, ' '),
  };
}

/** Returns the same page of each of several endpoints, by endpoint. */
export async function listDeliveriesOf(
  database: Database,
  endpointIds: readonly string[],
  { status = null, after = null, limit }: DeliveryQuery,
): Promise<Map<string, DeliveryPage>> {
  const em = database.fork();
  const count = limit ?? DELIVERY_LIMIT;
  const values = [[...endpointIds], after || FROM_NEWEST, String(count + 1), TYPE_SCOPES];
  const rows = await database.runner.run(toStatement(status), values);
  const ids = rows.filter(([, , isMatch]) => isMatch === 't').map(([, id]) => id!);
  const found = await em.find(WebhookDelivery, { id: { $in: ids } }, { orderBy: { id: 'desc' } });
  return new Map(
    endpointIds.map((endpointId) => {
      const data = found.filter((delivery) => delivery.endpointId === endpointId);
      const last = rows.findLast(([id]) => id === endpointId);
      const page = data.slice(0, count);
      const next = data.length > count ? page.at(-1)!.id : last?.[3] === 't' ? last[1]! : null;
      return [endpointId, { data: page, meta: { nextCursor: next } }];
    }),
  );
}
