import type { EntityManager } from '@mikro-orm/postgresql';
import { AuditEntry } from '../../entities/audit-entry.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { conflict } from '../shared/errors.ts';
import { AUDIT_ACTIONS, type AuditAction } from './audit/audit-actions.ts';

/**
 * Throws `EDIT_CONFLICT` if a locked row has changed since the person saw it. The message says who changed it, when and how, as the
 * audit log has it. CON-6.
 */
export async function requireUnchanged(
  { expectedUpdatedAt }: { expectedUpdatedAt?: string },
  em: EntityManager,
  row: { updatedAt: string },
  objectId: string,
): Promise<void> {
  if (expectedUpdatedAt === undefined || Date.parse(row.updatedAt) === Date.parse(expectedUpdatedAt)) return;
  // Later entries may be of reads, or of what has not changed the row.
  const change = await em.findOne(AuditEntry, { objectId, at: row.updatedAt, action: { $ne: 'person.read' } });
  if (!change) throw editConflict(`It was changed at ${row.updatedAt}.`);
  const { action, actorId: id, at } = change;
  // The others act under the name of an account or a job.
  const user = id === null ? null : await em.findOne(User, { id });
  const actor = user ?? (id === null ? null : await em.findOne(OAuthClient, { id }));
  const message = `${actor?.name ?? id ?? 'Somebody'} changed it at ${at}: ${AUDIT_ACTIONS[action as AuditAction]}`;
  throw editConflict(message, user?.id);
}

/** @param personId the user whom the message names by what is stored of them. */
export const editConflict = (message: string, personId?: string) =>
  Object.assign(conflict('EDIT_CONFLICT', message), { personId });
