import type { EntityManager } from '@mikro-orm/postgresql';
import { conflict } from '../shared/errors.ts';
import { AUDIT_ACTIONS, type AuditAction } from './audit/audited-objects.ts';

interface LastChange {
  action: AuditAction;
  at: string;
  actor_id: string | null;
  name: string | null;
}

/** Names of users and clients; the others act under the name of an account or a job. */
const SELECT_LAST_CHANGE = `select entry.action, to_char(entry.at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, entry.actor_id,
    coalesce((select name from app_user where id = entry.actor_id), (select name from oauth_client where id = entry.actor_id)) as name
  from audit_entry entry where entry.object_id = ? and entry.at > ? order by entry.at desc, entry.id desc limit 1`;

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
  const [change] = await em.execute<LastChange[]>(SELECT_LAST_CHANGE, [objectId, expectedUpdatedAt]);
  if (!change) throw editConflict(`It was changed at ${row.updatedAt}.`);
  throw editConflict(
    `${change.name ?? change.actor_id ?? 'Somebody'} changed it at ${change.at}: ${AUDIT_ACTIONS[change.action]}`,
  );
}

export const editConflict = (message: string) => conflict('EDIT_CONFLICT', message);
