import { type FilterQuery, type FindOptions, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type AuditActorType, AuditEntry } from '../../../entities/audit-entry.entity.ts';
import type { Database } from '../../database/database.ts';
import type { AuditAction } from './audit-actions.ts';

/** The action of a read of personal data. */
const READ: AuditAction = 'person.read';

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
  /** Whether entries are reads of personal data, of which those of one response are listed as one, or changes. */
  reads?: boolean;
}

interface AuditPage {
  entries: AuditEntry[];
  /** Numbers of reads that entries stand for, by their ids. */
  readCounts: ReadonlyMap<string, number>;
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
  // A response has one time and one reader, so that a cursor passes over all of its reads.
  const second = filter.reads ? 'actorId' : 'id';
  const conditions = toConditions(filter);
  if (page.cursor !== null) {
    const last = await em.findOne(AuditEntry, { id: page.cursor });
    if (!last) return undefined;
    conditions.push({ $or: [{ at: { $lt: last.at } }, { at: last.at, [second]: { $lt: last[second] } }] });
  }
  const limit = page.limit + 1;
  const readCounts = filter.reads ? await countReads(em, conditions, limit) : new Map<string, number>();
  const where = filter.reads ? { id: { $in: [...readCounts.keys()] } } : { $and: conditions };
  const options: FindOptions<AuditEntry> = filter.reads
    ? { limit, orderBy: { at: 'desc', actorId: 'desc' } }
    : { limit, orderBy: { at: 'desc', id: 'desc' } };
  const found = await em.find(AuditEntry, where, options);
  const entries = found.slice(0, page.limit);
  return { entries, readCounts, nextCursor: found.length > page.limit ? entries.at(-1)!.id : null };
}

/** Returns the numbers of reads of the newest responses, by the id of the first entry of each. */
async function countReads(
  em: EntityManager,
  conditions: FilterQuery<AuditEntry>[],
  limit: number,
): Promise<Map<string, number>> {
  const rows = await em
    .createQueryBuilder(AuditEntry)
    .select([raw('min(id) as id'), raw('count(*)::int as count')])
    .where({ $and: conditions } as object)
    .groupBy(['at', 'actorId'])
    .orderBy({ at: 'desc', actorId: 'desc' })
    .limit(limit)
    .execute<{ id: string; count: number }[]>('all', false);
  return new Map(rows.map(({ id, count }) => [id, count]));
}

function toConditions({ action, since, until, reads, ...equal }: AuditFilter): FilterQuery<AuditEntry>[] {
  const at = { ...(since !== undefined && { $gte: since }), ...(until !== undefined && { $lt: until }) };
  return [
    Object.fromEntries(Object.entries(equal).filter(([, value]) => value !== undefined)),
    ...(action === undefined ? [] : [action.includes('.') ? { action } : { objectType: action }]),
    ...(reads === undefined ? [] : [{ action: reads ? READ : { $ne: READ } }]),
    ...(Object.keys(at).length > 0 ? [{ at }] : []),
  ];
}
