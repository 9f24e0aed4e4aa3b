import type { EntityManager } from '@mikro-orm/postgresql';
import { SignOnVisit } from '../../../entities/sign-on-visit.entity.ts';
import { toInstant } from '../../../schema/scalars.ts';
import { refuse } from '../cli-error.ts';
import { identifier, oneLine } from './checks.ts';
import { inTransaction, lockRow, type Place } from './command-context.ts';

export interface ClosingVisit {
  visitId: string;
  /** Who says so. */
  by: string;
  /** When the worker left; now when it is not given. */
  at?: string;
}

/**
 * Ends a visit that no gate has ended. From then on a sign-off for it is answered 409: what people wrote is never
 * overwritten (ATT-26, ATT-33).
 */
export async function closeVisit(place: Place, request: ClosingVisit) {
  const by = oneLine('--by', request.by);
  return inTransaction(place, async (em, now) => {
    const visit = await lockVisit(place, em, request.visitId);
    if (visit.archivedAt !== null) refuse('VISIT', `${visit.id} was archived at ${visit.archivedAt}`);
    if (visit.signedOffAt !== null) refuse('VISIT', `${visit.id} was signed off at ${visit.signedOffAt}`);
    const changed = visit.closedAt === null;
    if (changed) Object.assign(visit, { closedAt: closingTime(visit, request.at, now), closedBy: by, updatedAt: now });
    return { ...summaryOf(visit), changed };
  });
}

/** Puts a visit away, whatever its state: attendance no longer counts it, and a sign-off for it is answered 409. */
export async function archiveVisit(place: Place, visitId: string) {
  return inTransaction(place, async (em, now) => {
    const visit = await lockVisit(place, em, visitId);
    const changed = visit.archivedAt === null;
    if (changed) Object.assign(visit, { archivedAt: now, updatedAt: now });
    return { ...summaryOf(visit), changed };
  });
}

async function lockVisit({ database }: Place, em: EntityManager, id: string): Promise<SignOnVisit> {
  const visit = await lockRow(em, SignOnVisit, { id: identifier('VISIT', 'signOnVisit', id) });
  return visit ?? refuse('VISIT', `there is no visit ${id} in ${database.region}`);
}

function closingTime({ signedOnAt }: SignOnVisit, at: string | undefined, now: string): string {
  if (at === undefined) return now;
  const instant = toInstant(at) ?? refuse('--at', `"${at}" is not a date-time such as 2026-03-02T16:30:00+11:00`);
  if (instant > now) refuse('--at', `${at} lies in the future`);
  if (instant < signedOnAt) refuse('--at', `${at} is earlier than the sign-on at ${signedOnAt}`);
  return instant;
}

function summaryOf({ id, workerId, projectId, signedOnAt, signedOffAt, closedAt, closedBy, archivedAt }: SignOnVisit) {
  return { visitId: id, workerId, projectId, signedOnAt, signedOffAt, closedAt, closedBy, archivedAt };
}
