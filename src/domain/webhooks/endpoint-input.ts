import type { EntityManager } from '@mikro-orm/postgresql';
import { Connection } from '../../../entities/connection.entity.ts';
import type { WebhookEndpointSwitch } from '../../../schema/webhook.scalars.ts';
import { FieldErrors } from '../../shared/errors.ts';
import { EVENT_TYPE_MESSAGE, eventTypes } from '../events/event-types.ts';
import type { WebhookContext } from './webhook-context.ts';

export interface NewEndpoint {
  url: string;
  /** Absent or null for all. */
  types?: string[] | null;
  /** Absent or null for all that are connected. */
  builderIds?: string[] | null;
}

/** Absent fields stay unchanged. */
export interface EndpointChanges extends Partial<NewEndpoint> {
  status?: WebhookEndpointSwitch | null;
}

/**
 * Throws a `ValidationError` with every field that cannot be used: a URL that is not allowed, a type that there is not, a builder that is
 * not connected.
 */
export async function checkEndpointInput(
  { webhooks }: Pick<WebhookContext, 'webhooks'>,
  em: EntityManager,
  integratorId: string,
  { url, types, builderIds }: Partial<NewEndpoint>,
): Promise<void> {
  const errors = new FieldErrors();
  const problem = url === undefined ? null : webhooks.receivers.findUrlProblem(url);
  if (problem) errors.add({ fieldName: 'url', message: problem });
  for (const [index, type] of (types ?? []).entries()) {
    if (!eventTypes.has(type)) errors.add({ fieldName: `types[${index}]`, message: EVENT_TYPE_MESSAGE });
  }
  const connected = await findConnectedBuilders(em, integratorId, builderIds ?? []);
  for (const [index, builderId] of (builderIds ?? []).entries()) {
    if (!connected.has(builderId)) errors.add({ fieldName: `builderIds[${index}]`, message: 'is not connected' });
  }
  errors.throwIfAny();
}

async function findConnectedBuilders(
  em: EntityManager,
  integratorId: string,
  builderIds: readonly string[],
): Promise<Set<string>> {
  if (builderIds.length === 0) return new Set();
  const where = { integratorId, builderId: { $in: [...builderIds] }, status: 'ACTIVE' as const };
  const found = await em.find(Connection, where, { fields: ['builderId'] });
  return new Set(found.map(({ builderId }) => builderId));
}

/** Returns each value once, in a fixed order, so that equal filters are equal lists; null for all. */
export const toFilter = (values: readonly string[] | null | undefined): string[] | null =>
  values == null ? null : [...new Set(values)].sort();
