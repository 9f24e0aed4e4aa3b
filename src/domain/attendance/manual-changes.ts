import type { EntityManager } from '@mikro-orm/postgresql';
import { SignOnVisit } from '../../../entities/sign-on-visit.entity.ts';
import { toInstant } from '../../../schema/scalars.ts';
import { parseId, requireSingleLine } from '../access/access-values.ts';
import { InvalidInputError } from '../access/invalid-input-error.ts';
import { type ChangeContext, inTransaction, lockRow } from '../change-context.ts';
import { editConflict, requireUnchanged } from '../edit-conflicts.ts';

interface CloseVisitRequest {
  visitId: string;
  /** Person who reports that the worker left. */
  by: string;
  /** When the worker left. Default: now. */
  at?: string;
  /** Why it is closed by hand. */
  reason?: string;
}

/**
 * Closes a visit that no gate has ended. A later sign-off for it is a conflict, because manual entries are never overwritten. A visit that
 * is closed already stays as it is; with `expectedUpdatedAt` this is `EDIT_CONFLICT`. ATT-26, ATT-33.
 */
export async function closeVisit(context: ChangeContext, request: CloseVisitRequest) {
  const by = requireSingleLine('by', request.by);
  const reason = request.reason === undefined ? null : requireSingleLine('reason', request.reason, 500);
  return inTransaction(context, async (em, now, record) => {
    const visit = await lockVisit(context, em, request.visitId);
    if (visit.archivedAt !== null)
      throw new InvalidInputError('visitId', `${visit.id} was archived at ${visit.archivedAt}`);
    if (visit.signedOffAt !== null)
      throw new InvalidInputError('visitId', `${visit.id} was signed off at ${visit.signedOffAt}`);
    const changed = visit.closedAt === null;
    if (!changed && context.expectedUpdatedAt !== undefined) {
      throw editConflict(
        `${visit.closedBy ?? 'Somebody'} closed it at ${visit.closedAt}: ${visit.closingReason ?? 'without a reason'}`,
      );
    }
    if (changed) {
      const before = { closedAt: visit.closedAt, closedBy: visit.closedBy };
      const closedAt = parseClosingTime(visit, request.at, now);
      Object.assign(visit, { closedAt, closedBy: by, closingReason: reason, updatedAt: now });
      await record({ ...toSubject(visit), action: 'visit.closed', before, after: visit });
    }
    return { ...toVisitSummary(visit), changed };
  });
}

/**
 * Archives a visit in any state: attendance no longer counts it, and a sign-off for it is a conflict. A visit that is archived already stays
 * as it is; with `expectedUpdatedAt` this is `EDIT_CONFLICT`.
 */
export async function archiveVisit(context: ChangeContext, visitId: string) {
  return inTransaction(context, async (em, now, record) => {
    const visit = await lockVisit(context, em, visitId);
    const changed = visit.archivedAt === null;
    if (!changed && context.expectedUpdatedAt !== undefined)
      throw editConflict(`It was archived at ${visit.archivedAt}.`);
    if (changed) {
      Object.assign(visit, { archivedAt: now, updatedAt: now });
      await record({ ...toSubject(visit), action: 'visit.archived', before: { archivedAt: null }, after: visit });
    }
    return { ...toVisitSummary(visit), changed };
  });
}

async function lockVisit(context: ChangeContext, em: EntityManager, id: string): Promise<SignOnVisit> {
  const visit = await lockRow(em, SignOnVisit, { id: parseId('visitId', 'signOnVisit', id) });
  if (!visit) throw new InvalidInputError('visitId', `there is no visit ${id} in ${context.database.region}`);
  await requireUnchanged(context, em, visit, id);
  return visit;
}

function parseClosingTime({ signedOnAt }: SignOnVisit, at: string | undefined, now: string): string {
  if (at === undefined) return now;
  const instant = toInstant(at);
  if (instant === null)
    throw new InvalidInputError('at', `"${at}" is not a date-time such as 2026-03-02T16:30:00+11:00`);
  if (instant > now) throw new InvalidInputError('at', `${at} is in the future`);
  if (instant < signedOnAt) throw new InvalidInputError('at', `${at} is earlier than the sign-on at ${signedOnAt}`);
  return instant;
}

function toVisitSummary(visit: SignOnVisit) {
  const { id, workerId, projectId, signedOnAt, signedOffAt, closedAt, closedBy, archivedAt } = visit;
  return { visitId: id, workerId, projectId, signedOnAt, signedOffAt, closedAt, closedBy, archivedAt };
}

/** Returns what the audit log records a change of the visit about. */
const toSubject = ({ id, builderId, workerId }: SignOnVisit) => ({ objectId: id, builderId, personId: workerId });
