import type { EntityManager } from '@mikro-orm/postgresql';
import { SignOnVisit } from '../../../entities/sign-on-visit.entity.ts';
import { toInstant } from '../../../schema/scalars.ts';
import { CliError } from '../cli-error.ts';
import { parseId, requireSingleLine } from './argument-parsers.ts';
import { type CommandContext, inTransaction, lockRow } from './command-context.ts';

export interface CloseVisitRequest {
  visitId: string;
  /** Person who reports that the worker left. */
  by: string;
  /** When the worker left. Default: now. */
  at?: string;
}

/** Closes a visit that no gate has ended. A later sign-off for it gets 409, because manual entries are never overwritten. ATT-26, ATT-33. */
export async function closeVisit(context: CommandContext, request: CloseVisitRequest) {
  const by = requireSingleLine('--by', request.by);
  return inTransaction(context, async (em, now) => {
    const visit = await lockVisit(context, em, request.visitId);
    if (visit.archivedAt !== null) throw CliError.forOption('VISIT', `${visit.id} was archived at ${visit.archivedAt}`);
    if (visit.signedOffAt !== null)
      throw CliError.forOption('VISIT', `${visit.id} was signed off at ${visit.signedOffAt}`);
    const changed = visit.closedAt === null;
    if (changed)
      Object.assign(visit, { closedAt: parseClosingTime(visit, request.at, now), closedBy: by, updatedAt: now });
    return { ...toVisitSummary(visit), changed };
  });
}

/** Archives a visit in any state: attendance no longer counts it, and a sign-off for it gets 409. */
export async function archiveVisit(context: CommandContext, visitId: string) {
  return inTransaction(context, async (em, now) => {
    const visit = await lockVisit(context, em, visitId);
    const changed = visit.archivedAt === null;
    if (changed) Object.assign(visit, { archivedAt: now, updatedAt: now });
    return { ...toVisitSummary(visit), changed };
  });
}

async function lockVisit({ database }: CommandContext, em: EntityManager, id: string): Promise<SignOnVisit> {
  const visit = await lockRow(em, SignOnVisit, { id: parseId('VISIT', 'signOnVisit', id) });
  if (!visit) throw CliError.forOption('VISIT', `there is no visit ${id} in ${database.region}`);
  return visit;
}

function parseClosingTime({ signedOnAt }: SignOnVisit, at: string | undefined, now: string): string {
  if (at === undefined) return now;
  const instant = toInstant(at);
  if (instant === null)
    throw CliError.forOption('--at', `"${at}" is not a date-time such as 2026-03-02T16:30:00+11:00`);
  if (instant > now) throw CliError.forOption('--at', `${at} is in the future`);
  if (instant < signedOnAt) throw CliError.forOption('--at', `${at} is earlier than the sign-on at ${signedOnAt}`);
  return instant;
}

function toVisitSummary({
  id,
  workerId,
  projectId,
  signedOnAt,
  signedOffAt,
  closedAt,
  closedBy,
  archivedAt,
}: SignOnVisit) {
  return { visitId: id, workerId, projectId, signedOnAt, signedOffAt, closedAt, closedBy, archivedAt };
}
