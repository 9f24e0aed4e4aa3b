import type { SignOnConflictCode, SignOnEventStatus, SignOnStatus, SignOnType } from '../../../schema/enums.ts';

/** What a gate has sent. Instants in the one spelling of `Timestamp`. */
export interface Payload {
  sourceEventId: string;
  sourceSignOnEventId: string | null;
  workerId: string;
  type: SignOnType;
  occurredAt: string;
  deviceId: string | null;
}

/** An event that was accepted before. */
export interface StoredEvent extends Payload {
  id: string;
  status: SignOnEventStatus;
  rejection: SignOnConflictCode | null;
  visitId: string | null;
}

/** As much of a visit as decides. */
export interface VisitState {
  signedOffAt: string | null;
  closedAt: string | null;
  archivedAt: string | null;
}

/** All that an answer depends on. */
export interface Facts {
  event: Payload;
  /** The event of the same identity, if there is one. */
  stored: StoredEvent | null;
  /** On a sign-off: the event that it names as its sign-on, if that has arrived. */
  signOn: Payload | null;
  /** The visit that this one began. */
  visit: VisitState | null;
}

/** The answer: 201, 200 and 202 with a body of `data`, 409 with a code. */
export type Decision =
  | { status: 201; event: 'APPLIED'; duplicate: false }
  | { status: 200; event: SignOnStatus; duplicate: true }
  | { status: 202; event: 'PENDING_SIGN_ON'; duplicate: false }
  | { status: 409; code: SignOnConflictCode };

const applied: Decision = { status: 201, event: 'APPLIED', duplicate: false };
const pending: Decision = { status: 202, event: 'PENDING_SIGN_ON', duplicate: false };
const replayed = ({ stored }: Facts): Decision => ({
  status: 200,
  event: stored!.status as SignOnStatus,
  duplicate: true,
});
const rejected = ({ stored }: Facts): Decision => ({ status: 409, code: stored!.rejection! });
const conflict = (code: SignOnConflictCode): Decision => ({ status: 409, code });

/**
 * The situations of an event and their decisions: replays (ATT-11, ATT-13, ATT-19), visits (ATT-15, ATT-16, ATT-18) and conflicts
 * (ATT-23 to ATT-26). The first one that holds decides (ATT-22), so each may count on those before it not to hold.
 */
// biome-ignore format: a table
const SITUATIONS: readonly [situation: string, holds: (facts: Facts) => boolean, decision: Decision | ((facts: Facts) => Decision)][] = [
  // Known already.
  ['Same ID, different data',                                         ({ stored, event }) => stored !== null && !samePayload(stored, event), conflict('EVENT_MISMATCH')],
  ['Replay of a sign-off that waited and then conflicted',            ({ stored }) => stored?.status === 'REJECTED',                          rejected],
  ['Same ID and same payload replayed',                               ({ stored }) => stored !== null,                                        replayed],
  // New.
  ['New applied event: a sign-on',                                    ({ event }) => event.type === 'SIGN_ON',                                applied],
  ['Sign-off with no sign-on: it names none',                         ({ event }) => event.sourceSignOnEventId === null,                      conflict('SIGN_ON_REQUIRED')],
  ['Sign-off with no sign-on: it names itself',                       ({ event }) => event.sourceSignOnEventId === event.sourceEventId,       conflict('SIGN_ON_REQUIRED')],
  ['Sign-off arrives before its sign-on',                             ({ signOn }) => signOn === null,                                        pending],
  ['Sign-off with no sign-on: it names another sign-off',             ({ signOn }) => signOn!.type === 'SIGN_OFF',                            conflict('SIGN_ON_REQUIRED')],
  ['Sign-off references another worker',                              ({ signOn, event }) => signOn!.workerId !== event.workerId,             conflict('WORKER_MISMATCH')],
  ['Second distinct sign-off for the same visit',                     ({ visit }) => visit!.signedOffAt !== null,                             conflict('ALREADY_SIGNED_OFF')],
  ['Attendance record already manually closed',                       ({ visit }) => visit!.closedAt !== null,                                conflict('ATTENDANCE_CLOSED')],
  ['Attendance record already archived',                              ({ visit }) => visit!.archivedAt !== null,                              conflict('ATTENDANCE_CLOSED')],
  ['New applied event: a sign-off',                                   () => true,                                                             applied],
];

/** What the event gets. Depends on nothing but the facts. */
export function decide(facts: Facts): Decision {
  const [, , decision] = SITUATIONS.find(([, holds]) => holds(facts))!;
  return typeof decision === 'function' ? decision(facts) : decision;
}

/** What people are told of each code. */
export const CONFLICTS: Record<SignOnConflictCode, string> = {
  EVENT_MISMATCH: 'An event with this sourceEventId was sent before with other data.',
  WORKER_MISMATCH: 'The sign-on that this sign-off names is of another worker.',
  SIGN_ON_REQUIRED: 'A sign-off must name its sign-on in sourceSignOnEventId.',
  ALREADY_SIGNED_OFF: 'The visit has been signed off by another event.',
  ATTENDANCE_CLOSED: 'The attendance record was closed by hand or archived; it is not overwritten.',
};

/** Instants are compared, not their spelling (ATT-12). */
export function samePayload(one: Payload, other: Payload): boolean {
  return (
    one.type === other.type &&
    one.workerId === other.workerId &&
    one.sourceSignOnEventId === other.sourceSignOnEventId &&
    one.deviceId === other.deviceId &&
    Date.parse(one.occurredAt) === Date.parse(other.occurredAt)
  );
}
