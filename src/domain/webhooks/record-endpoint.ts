import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import type { WebhookEndpoint } from '../../../entities/webhook-endpoint.entity.ts';
import type { WebhookDisabledReason, WebhookEndpointStatus } from '../../../schema/webhook.scalars.ts';
import type { AuditAction } from '../audit/audited-objects.ts';
import { recordAudit, toAuditEntry } from '../audit/record-audit.ts';
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
    ...source,
    at: new Date(clock.now()).toISOString(),
    action,
    objectId: id,
    integratorId,
    before,
    after,
  });

/** Returns the audit entry of an endpoint that the service disables at the instant, in milliseconds (WHK-11). */
export const toDisabledEntry = (
  { id, integratorId }: Pick<WebhookEndpoint, 'id' | 'integratorId'>,
  status: WebhookEndpointStatus,
  disabledReason: WebhookDisabledReason,
  now: number,
): AuditEntry =>
  toAuditEntry({
    actor: { type: 'JOB', id: 'deliver events' },
    origin: {},
    at: new Date(now).toISOString(),
    action: 'webhook_endpoint.disabled',
    objectId: id,
    integratorId,
    before: { status, disabledReason: null },
    after: { status: 'DISABLED', disabledReason },
  });

/** Returns the recorded properties of an endpoint. Of the URL it is the origin, because paths and queries of receivers may be secret. */
export function toAuditedEndpoint(endpoint: WebhookEndpoint) {
  const { integratorId, clientId, url, types, builderIds, status } = endpoint;
  return { integratorId, clientId, receiver: new URL(url).origin, types, builderIds, status };
}
