import type { FilterQuery } from '@mikro-orm/core';
import { type AuditActorType, AuditEntry } from '../../../entities/audit-entry.entity.ts';
import type { Database } from '../../database/database.ts';

/** Conditions of which all must hold. Absent ones do not restrict. */
export interface AuditFilter {
  actorType?: AuditActorType;
  actorId?: string;
  /** An action, or all actions of one kind of object: `client`. */
  action?: string;
  objectId?: string;
  builderId?: string;
  /** The user or worker that entries are about. */
  personId?: string;
  /** ISO 8601, inclusive. */
  since?: string;
  /** ISO 8601, exclusive. */
  until?: string;
}

interface AuditPage {
  entries: AuditEntry[];
  /** Id of the last entry, for the next page; null on the last page. */
  nextCursor: string | null;
}

/**
 * Returns entries of one region, newest first.
 *
 * @param page `cursor` is the id after which the page begins, null for the first page. Undefined is returned if there is no such entry.
 */
export async function listAuditEntries(
  database: Database,
  filter: AuditFilter,
  page: { limit: number; cursor: string | null },
): Promise<AuditPage | undefined> {
  const em = database.fork();
  const conditions: FilterQuery<AuditEntry>[] = [toConditions(filter)];
  if (page.cursor !== null) {
    const last = await em.findOne(AuditEntry, { id: page.cursor });
    if (!last) return undefined;
    conditions.push({ $or: [{ at: { $lt: last.at } }, { at: last.at, id: { $lt: last.id } }] });
  }
  const found = await em.find(
    AuditEntry,
    { $and: conditions },
    { orderBy: { at: 'desc', id: 'desc' }, limit: page.limit + 1 },
  );
  const entries = found.slice(0, page.limit);
  return { entries, nextCursor: found.length > page.limit ? entries.at(-1)!.id : null };
}

function toConditions({ action, since, until, ...equal }: AuditFilter): FilterQuery<AuditEntry> {
  const at = { ...(since !== undefined && { $gte: since }), ...(until !== undefined && { $lt: until }) };
  return {
    ...Object.fromEntries(Object.entries(equal).filter(([, value]) => value !== undefined)),
    ...(action !== undefined && (action.includes('.') ? { action } : { objectType: action })),
    ...(Object.keys(at).length > 0 && { at }),
  };
}
