import type { EntityManager } from '@mikro-orm/postgresql';
import { SignOnConflict } from '../../../entities/sign-on-conflict.entity.ts';
import { SignOnVisit } from '../../../entities/sign-on-visit.entity.ts';
import type { ConflictResolution } from '../../../schema/enums.ts';
import { requireSingleLine } from '../access/access-values.ts';
import { InvalidInputError } from '../access/invalid-input-error.ts';
import { type ChangeContext, inTransaction, lockRow } from '../change-context.ts';
import { editConflict, requireUnchanged } from '../edit-conflicts.ts';

interface ConflictDecision {
  id: number;
  resolution: ConflictResolution;
  reason: string;
  /** Name of the person who decides. */
  by: string;
}

/**
 * Stores what a person decided about an event that was refused. `USE_EVENT_TIME` ends the visit, open or closed by a person, when the
 * gate saw the worker leave; what a gate has recorded is not changed. Throws `EDIT_CONFLICT` if another decision is stored,
 * or if the visit has changed since `expectedUpdatedAt`, the latest change of the conflict and its visit that the person saw.
 * A repetition of the event by the gate is no change. CON-9.
 */
export async function resolveConflict(context: ChangeContext, { id, resolution, by, ...decision }: ConflictDecision) {
  const reason = requireSingleLine('reason', decision.reason, 500);
  return inTransaction(context, async (em, now, record) => {
    const conflict = await lockRow(em, SignOnConflict, { id });
    if (!conflict) throw new InvalidInputError('id', `there is no conflict ${id} in ${context.database.region}`);
    if (conflict.resolvedAt !== null) {
      const isRepeated = conflict.resolution === resolution && conflict.resolvedBy === by;
      if (isRepeated && conflict.resolutionReason === reason) return;
      throw editConflict(
        `${conflict.resolvedBy ?? 'Somebody'} resolved it at ${conflict.resolvedAt} (${conflict.resolution}): ${conflict.resolutionReason}`,
      );
    }
    const { builderId, workerId } = conflict;
    const subject = { builderId, personId: workerId };
    const recorded = await lockVisitOf(em, conflict);
    if (recorded) await requireSeen(context, em, recorded);
    if (resolution === 'USE_EVENT_TIME') {
      const visit = requireVisitToClose(conflict, recorded, now);
      const before = { closedAt: visit.closedAt };
      const after = { closedAt: conflict.occurredAt, closingReason: reason };
      Object.assign(visit, after, { closedBy: by, updatedAt: now });
      await record({ ...subject, action: 'visit.closed', objectId: visit.id, before, after });
    }
    const after = { resolution, resolutionReason: reason };
    // `updatedAt` remains the time of the last repetition.
    Object.assign(conflict, after, { resolvedBy: by, resolvedAt: now });
    await record({ ...subject, action: 'conflict.resolved', objectId: String(id), before: {}, after });
  });
}

/** SQL of the recorded event that a conflict is about: the one with its identity, or else the sign-on that it names. */
export const RECORDED_EVENT = `select event.id, event.visit_id, event.worker_id from sign_on_event event
  where event.integrator_id = conflict.integrator_id and event.builder_id = conflict.builder_id
    and event.project_id = conflict.project_id
    and event.source_event_id in (conflict.source_event_id, conflict.source_sign_on_event_id)
  order by event.source_event_id = conflict.source_event_id desc limit 1`;

/** Locks the visit of the recorded event; null without one. */
async function lockVisitOf(em: EntityManager, { id }: SignOnConflict): Promise<SignOnVisit | null> {
  const [found] = await em.execute<{ visit_id: string | null }[]>(
    `select event.visit_id from sign_on_conflict conflict, lateral (${RECORDED_EVENT}) event where conflict.id = ?`,
    [id],
  );
  return found?.visit_id ? lockRow(em, SignOnVisit, { id: found.visit_id }) : null;
}

/** Throws a conflict if the visit has changed since the person saw it with the conflict. The conflict may have been repeated since. */
async function requireSeen(context: ChangeContext, em: EntityManager, visit: SignOnVisit): Promise<void> {
  const { expectedUpdatedAt } = context;
  if (expectedUpdatedAt === undefined || Date.parse(visit.updatedAt) <= Date.parse(expectedUpdatedAt)) return;
  await requireUnchanged(context, em, visit, visit.id);
}

function requireVisitToClose(conflict: SignOnConflict, visit: SignOnVisit | null, now: string): SignOnVisit {
  const invalid = (problem: string) => new InvalidInputError('resolution', problem);
  if (conflict.type !== 'SIGN_OFF') throw invalid('only a sign-off can end a visit');
  if (!visit) throw invalid('no visit is recorded that the event could end');
  if (visit.workerId !== conflict.workerId) throw invalid('the recorded visit is of another worker');
  if (visit.archivedAt !== null) throw invalid(`the visit was archived at ${visit.archivedAt}`);
  if (visit.signedOffAt !== null) throw invalid(`a gate signed the worker off at ${visit.signedOffAt}`);
  const { occurredAt } = conflict;
  if (occurredAt > now || occurredAt < visit.signedOnAt) throw invalid(`the visit cannot have ended at ${occurredAt}`);
  return visit;
}
