import type { EntityManager } from '@mikro-orm/postgresql';
import type { WebhookEndpoint } from '../../../entities/webhook-endpoint.entity.ts';
import type { AuditAction } from '../audit/audited-objects.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { WebhookChangeContext } from './webhook-context.ts';

/** Records a change of an endpoint in its transaction (ACC-20, ACC-22). */
export const recordEndpoint = (
  em: EntityManager,
  { source, clock }: WebhookChangeContext,
  action: AuditAction & `webhook_endpoint.${string}`,
  { id, integratorId }: Pick<WebhookEndpoint, 'id' | 'integratorId'>,
  { before = null, after = null }: { before?: object | null; after?: object | null },
) =>
  recordAudit(em, {
    ...{ ...source, at: new Date(clock.now()).toISOString(), action, objectId: id, integratorId },
    ...{ before, after },
  });

/** Returns the recorded properties of an endpoint. Of the URL it is the origin, because paths and queries of receivers may be secret. */
export function toAuditedEndpoint(endpoint: WebhookEndpoint) {
  const { integratorId, clientId, url, types, builderIds, status } = endpoint;
  return { integratorId, clientId, receiver: new URL(url).origin, types, builderIds, status };
}
