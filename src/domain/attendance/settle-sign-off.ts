import type { EntityManager } from '@mikro-orm/postgresql';
import { SignOnEvent } from '../../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../../entities/sign-on-visit.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { toInstant } from '../../../schema/scalars.ts';
import { requireSingleLine } from '../access/access-values.ts';
import { InvalidInputError } from '../access/invalid-input-error.ts';
import { type ChangeContext, inTransaction, lockRequiredRow } from '../change-context.ts';
import { toLockKey } from './record-event.ts';

interface SignOffDecision {
  /** A sign-off that waits for its sign-on. */
  signOnEventId: string;
  reason: string;
}

/**
 * Rejects a sign-off that waits for its sign-on with `ATTENDANCE_CLOSED`, so that it ends no visit. Throws `EDIT_CONFLICT` if it has changed
 * since `expectedUpdatedAt`. ATT-42.
 */
export async function dismissSignOff(context: ChangeContext, { signOnEventId, ...decision }: SignOffDecision) {
  const reason = requireSingleLine('reason', decision.reason, 500);
  return inTransaction(context, async (em, now, record) => {
    const [signOff] = await lockWaiting(context, em, signOnEventId);
    const { id, builderId, workerId, projectId } = signOff;
    Object.assign(signOff, { status: 'REJECTED', rejection: 'ATTENDANCE_CLOSED', updatedAt: now });
    const after = { workerId, projectId, reason };
    await record({ action: 'sign_off.dismissed', objectId: id, builderId, personId: workerId, before: {}, after });
  });
}

/**
 * Makes a visit of a sign-off that waits for its sign-on, and stores the sign-on that a person states under the id that the sign-off names:
 * if the gate's own arrives later, it is `EVENT_MISMATCH` and a conflict for people. Other sign-offs that wait for it are rejected (ATT-20).
 * Returns the visit's id. Throws `EDIT_CONFLICT` if the sign-off has changed since `expectedUpdatedAt`. ATT-43.
 */
export async function createVisit(
  context: ChangeContext,
  { signOnEventId, signedOnAt: stated, ...decision }: SignOffDecision & { signedOnAt: string },
): Promise<string> {
  const reason = requireSingleLine('reason', decision.reason, 500);
  const signedOnAt = toInstant(stated);
  if (signedOnAt === null) throw new InvalidInputError('signedOnAt', `"${stated}" is not a date-time`);
  return inTransaction(context, async (em, now, record) => {
    const [signOff, ...others] = await lockWaiting(context, em, signOnEventId);
    const { integratorId, builderId, projectId, workerId, sourceSignOnEventId, occurredAt } = signOff;
    if (signedOnAt > occurredAt)
      throw new InvalidInputError('signedOnAt', `${stated} is later than the sign-off at ${occurredAt}`);
    const time = Date.parse(now);
    const visitId = newId('signOnVisit', time);
    const shared = { createdAt: now, updatedAt: now, builderId, projectId, workerId };
    const visit = { signedOnAt, signedOffAt: occurredAt, closingReason: reason };
    const signOn: Partial<SignOnEvent> = {
      ...shared,
      id: newId('signOnEvent', time),
      integratorId,
      visitId,
      sourceEventId: sourceSignOnEventId!,
      type: 'SIGN_ON',
      occurredAt: signedOnAt,
      status: 'APPLIED',
    };
    await em.insert(SignOnVisit, { ...shared, ...visit, id: visitId } as never);
    await em.insert(SignOnEvent, signOn as never);
    Object.assign(signOff, { status: 'APPLIED', visitId, updatedAt: now });
    for (const other of others) {
      const rejection = other.workerId === workerId ? 'ALREADY_SIGNED_OFF' : 'WORKER_MISMATCH';
      Object.assign(other, { status: 'REJECTED', rejection, updatedAt: now });
    }
    const after = { workerId, projectId, ...visit };
    await record({ action: 'visit.created', objectId: visitId, builderId, personId: workerId, before: {}, after });
    return visitId;
  });
}

/** Locks a sign-off and returns it, and then the others that wait for the same sign-on. */
async function lockWaiting(
  context: ChangeContext,
  em: EntityManager,
  id: string,
): Promise<[SignOnEvent, ...SignOnEvent[]]> {
  const found = await em.findOne(SignOnEvent, { id }, { disableIdentityMap: true });
  // Events of one sign-on are recorded one after the other under this lock (ATT-21).
  const key = found && toLockKey(found, found.sourceSignOnEventId);
  if (key) await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [key]);
  const signOff = await lockRequiredRow(context, em, SignOnEvent, 'signOnEvent', id);
  if (signOff.status !== 'PENDING_SIGN_ON')
    throw new InvalidInputError('signOnEventId', `${id} does not wait for its sign-on`);
  const { integratorId, builderId, projectId, sourceSignOnEventId, status } = signOff;
  const where = { integratorId, builderId, projectId, sourceSignOnEventId, status, id: { $ne: id } };
  return [signOff, ...(await em.find(SignOnEvent, where))];
}
