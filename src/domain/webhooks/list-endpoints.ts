import type { EntityManager } from '@mikro-orm/postgresql';
import { OAuthClient } from '../../../entities/oauth-client.entity.ts';
import { WebhookEndpoint } from '../../../entities/webhook-endpoint.entity.ts';
import { WebhookProgress } from '../../../entities/webhook-progress.entity.ts';
import type { WebhookEndpointStatus } from '../../../schema/webhook.scalars.ts';
import type { Database } from '../../database/database.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';

/** Conditions of which all must hold. Absent ones do not restrict. */
interface EndpointFilter {
  integratorId?: string | null;
  /** As clients see it: an active endpoint of a disabled client is paused (WHK-7). */
  status?: WebhookEndpointStatus | null;
  /** Whether it has failed since its last success. */
  failing?: boolean | null;
  /** Receives events of this builder. */
  builderId?: string | null;
}

// SQL: conditions on three tables to which the entity has no relations.
const SELECT_PAGE = statement('webhooks.endpoint-page')`select endpoint.id from webhook_endpoint endpoint
    join webhook_progress progress on progress.endpoint_id = endpoint.id
    join oauth_client client on client.id = endpoint.client_id
  where endpoint.deleted_at is null and endpoint.id > $1 and ($2::text is null or endpoint.integrator_id = $2)
    and ($3::text is null or $3 = case when endpoint.status = 'ACTIVE' and (client.disabled_at is not null or 'client_credentials' <> all(client.grants)) then 'PAUSED' else endpoint.status end)
    and ($4::boolean is null or $4 = (progress.failing_since is not null))
    and ($5::text is null or ((endpoint.builder_ids is null or $5 = any(endpoint.builder_ids)) and exists (select from connection
      where connection.integrator_id = endpoint.integrator_id and connection.builder_id = $5 and connection.status = 'ACTIVE')))
  order by endpoint.id limit $6::int`;

/** Filter of the clients whose endpoints are paused: they are disabled, or may not use the grant that endpoints belong to (WHK-7). */
export const CANNOT_RECEIVE = {
  $or: [{ disabledAt: { $ne: null } }, { $not: { grants: { $contains: ['client_credentials' as const] } } }],
};

/** Returns a page of the endpoints of all integrators, in the order of creation. @param page `cursor` is the last id of the page before. */
export async function listEndpointPage(
  database: Database,
  { integratorId = null, status = null, failing = null, builderId = null }: EndpointFilter,
  { cursor = '', limit }: { cursor?: string; limit: number },
) {
  const em = database.fork();
  const values = [cursor, integratorId, status, failing, builderId, String(limit + 1)];
  const ids = (await database.runner.run(SELECT_PAGE, values)).map(([id]) => id!);
  const found = await em.find(WebhookEndpoint, { id: { $in: ids.slice(0, limit) } }, { orderBy: { id: 'asc' } });
  return { endpoints: await toShownEndpoints(em, found), nextCursor: ids.length > limit ? found.at(-1)!.id : null };
}

/** Returns the endpoints of the integrators, or of all, as they are stored, in the order of creation. */
export const findStoredEndpoints = (em: EntityManager, integratorIds?: readonly string[]) =>
  em.find(
    WebhookEndpoint,
    { ...(integratorIds && { integratorId: { $in: [...integratorIds] } }), deletedAt: null },
    { orderBy: { id: 'asc' } },
  );

/** Returns the endpoints of an integrator, or of all for an operator, in the order of creation. */
export async function listEndpoints(database: Database, integratorId?: string): Promise<WebhookEndpoint[]> {
  const em = database.fork();
  return toShownEndpoints(em, await findStoredEndpoints(em, integratorId === undefined ? undefined : [integratorId]));
}

/** Returns the endpoints of each integrator, of which none has more than 20 (WHK-3). */
export async function listEndpointsOf(database: Database, integratorIds: readonly string[]) {
  const em = database.fork();
  const endpoints = await toShownEndpoints(em, await findStoredEndpoints(em, integratorIds));
  return new Map(integratorIds.map((id) => [id, endpoints.filter(({ integratorId }) => integratorId === id)]));
}

/** Returns how far the deliveries of the endpoints have come, by endpoint. */
export async function findProgressOf(database: Database, endpointIds: readonly string[]) {
  const rows = await database.fork().find(WebhookProgress, { endpointId: { $in: [...endpointIds] } });
  return new Map(rows.map((row) => [row.endpointId, row]));
}

export const toEndpointEntity = (fields: WebhookEndpoint): WebhookEndpoint =>
  Object.assign(Object.create(WebhookEndpoint.prototype) as WebhookEndpoint, fields);

/** Returns copies as clients see them: an active endpoint of a client that cannot receive is paused (WHK-7). */
async function toShownEndpoints(em: EntityManager, endpoints: WebhookEndpoint[]): Promise<WebhookEndpoint[]> {
  const owners = [...new Set(endpoints.filter(({ status }) => status === 'ACTIVE').map(({ clientId }) => clientId))];
  const where = { id: { $in: owners }, ...CANNOT_RECEIVE };
  const found = owners.length === 0 ? [] : await em.find(OAuthClient, where, { fields: ['id'] });
  const paused = new Set(found.map(({ id }) => id));
  return endpoints.map((endpoint) => {
    const shown = toEndpointEntity({ ...endpoint });
    if (endpoint.status !== 'ACTIVE' || !paused.has(endpoint.clientId)) return shown;
    return Object.assign(shown, { status: 'PAUSED', disabledReason: 'CLIENT_DISABLED' });
  });
}

export const toShownEndpoint = async (em: EntityManager, endpoint: WebhookEndpoint): Promise<WebhookEndpoint> =>
  (await toShownEndpoints(em, [endpoint]))[0]!;
