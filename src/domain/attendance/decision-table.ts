import type { SignOnEvent } from '../../../entities/sign-on-event.entity.ts';
import type { SignOnVisit } from '../../../entities/sign-on-visit.entity.ts';
import type { SignOnConflictCode, SignOnStatus } from '../../../schema/enums.ts';

/** Fields of an event as a gate sent them. Instants have the normal form of `Timestamp`. */
export type EventPayload = Pick<
  SignOnEvent,
  'sourceEventId' | 'sourceSignOnEventId' | 'workerId' | 'type' | 'occurredAt' | 'deviceId'
>;

/** An event that was accepted earlier. */
export type StoredEvent = EventPayload & Pick<SignOnEvent, 'id' | 'status' | 'rejection' | 'visitId'>;

/** Fields of a visit that a decision depends on. */
export type VisitState = Pick<SignOnVisit, 'signedOffAt' | 'closedAt' | 'archivedAt'>;

/** Everything that a decision depends on. */
interface Facts {
  event: EventPayload;
  /** The stored event with the same identity. */
  stored: StoredEvent | null;
  /** The stored event that a sign-off names as its sign-on. */
  signOn: EventPayload | null;
  /** The visit that `signOn` began. */
  visit: VisitState | null;
}

/** Outcome of an event, with the fields of `data` or the code of the conflict. */
export type Decision =
  | { outcome: 'CREATED'; event: 'APPLIED'; duplicate: false }
  | { outcome: 'REPLAYED'; event: SignOnStatus; duplicate: true }
  | { outcome: 'ACCEPTED'; event: 'PENDING_SIGN_ON'; duplicate: false }
  | { outcome: 'CONFLICT'; code: SignOnConflictCode };

/** Decision for a new event that applies, as every new sign-on does. */
export const APPLIED = { outcome: 'CREATED', event: 'APPLIED', duplicate: false } as const satisfies Decision;
const pending: Decision = { outcome: 'ACCEPTED', event: 'PENDING_SIGN_ON', duplicate: false };
const replayed = ({ stored }: Facts): Decision => ({
  outcome: 'REPLAYED',
  event: stored!.status as SignOnStatus,
  duplicate: true,
});
const rejected = ({ stored }: Facts): Decision => ({ outcome: 'CONFLICT', code: stored!.rejection! });
const toConflict = (code: SignOnConflictCode): Decision => ({ outcome: 'CONFLICT', code });

/**
 * Decision table of an event: replays (ATT-11, ATT-13, ATT-19), visits (ATT-15, ATT-16, ATT-18) and conflicts (ATT-23 to ATT-26).
 * The first row whose condition holds decides (ATT-22), so a row may rely on the conditions above it being false.
 */
// biome-ignore format: a table
export const DECISION_TABLE: readonly [situation: string, holds: (facts: Facts) => boolean, decision: Decision | ((facts: Facts) => Decision)][] = [
  // The event is stored.
  ['Same ID, different data',                                         ({ stored, event }) => stored !== null && !isSamePayload(stored, event), toConflict('EVENT_MISMATCH')],
  ['Replay of a sign-off that waited and then conflicted',            ({ stored }) => stored?.status === 'REJECTED',                          rejected],
  ['Same ID and same payload replayed',                               ({ stored }) => stored !== null,                                        replayed],
  // The event is new.
  ['New applied event: a sign-on',                                    ({ event }) => event.type === 'SIGN_ON',                                APPLIED],
  ['Sign-off with no sign-on: it names none',                         ({ event }) => event.sourceSignOnEventId === null,                      toConflict('SIGN_ON_REQUIRED')],
  ['Sign-off with no sign-on: it names itself',                       ({ event }) => event.sourceSignOnEventId === event.sourceEventId,       toConflict('SIGN_ON_REQUIRED')],
  ['Sign-off arrives before its sign-on',                             ({ signOn }) => signOn === null,                                        pending],
  ['Sign-off with no sign-on: it names another sign-off',             ({ signOn }) => signOn!.type === 'SIGN_OFF',                            toConflict('SIGN_ON_REQUIRED')],
  ['Sign-off references another worker',                              ({ signOn, event }) => signOn!.workerId !== event.workerId,             toConflict('WORKER_MISMATCH')],
  ['Second distinct sign-off for the same visit',                     ({ visit }) => visit!.signedOffAt !== null,                             toConflict('ALREADY_SIGNED_OFF')],
  ['Attendance record already manually closed',                       ({ visit }) => visit!.closedAt !== null,                                toConflict('ATTENDANCE_CLOSED')],
  ['Attendance record already archived',                              ({ visit }) => visit!.archivedAt !== null,                              toConflict('ATTENDANCE_CLOSED')],
  ['New applied event: a sign-off',                                   () => true,                                                             APPLIED],
];

/** Returns the decision for an event. Pure function of the facts. */
export function decide(facts: Facts, table = DECISION_TABLE): Decision {
  const [, , decision] = table.find(([, holds]) => holds(facts))!;
  return typeof decision === 'function' ? decision(facts) : decision;
}

/** Message of each conflict code. */
export const CONFLICTS: Record<SignOnConflictCode, string> = {
  EVENT_MISMATCH: 'An event with this sourceEventId was sent before with other data.',
  WORKER_MISMATCH: 'The sign-on that this sign-off names is of another worker.',
  SIGN_ON_REQUIRED: 'A sign-off must name its sign-on in sourceSignOnEventId.',
  ALREADY_SIGNED_OFF: 'The visit has been signed off by another event.',
  ATTENDANCE_CLOSED: 'The attendance record was closed by hand or archived; it is not overwritten.',
};

/** Whether two payloads are equal. Compares instants, not their notation (ATT-12). */
const isSamePayload = (one: EventPayload, other: EventPayload): boolean =>
  one.type === other.type &&
  one.workerId === other.workerId &&
  one.sourceSignOnEventId === other.sourceSignOnEventId &&
  one.deviceId === other.deviceId &&
  Date.parse(one.occurredAt) === Date.parse(other.occurredAt);
