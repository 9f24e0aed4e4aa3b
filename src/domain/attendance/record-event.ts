import { conflictDigest } from '../../../entities/sign-on-conflict.entity.ts';
import type { SignOnEvent } from '../../../entities/sign-on-event.entity.ts';
import type { SignOnStatus } from '../../../schema/enums.ts';
import { newId } from '../../../schema/ids.ts';
import type { Database } from '../../database/database.ts';
import { isValueError } from '../../database/errors.ts';
import type { BoundStatement } from '../../database/pool/pg-pipeline.ts';
import { GroupCommit } from '../../database/write/group-commit.ts';
import { ConcurrentUpdateError } from '../../database/write/retry.ts';
import type { Transaction, TransactionRunner } from '../../database/write/transaction-runner.ts';
import { conflict, forbidden, notFound } from '../../shared/errors.ts';
import {
  APPLIED,
  CONFLICTS,
  type Decision,
  decide,
  type EventPayload,
  type StoredEvent,
  type VisitState,
} from './decision-table.ts';
import {
  FAST_SIGN_ONS,
  INSERT_PENDING,
  LOCK_EVENTS,
  READ_FACTS,
  RECORD_CONFLICT,
  SETTLE_WAITING,
  SIGN_OFF,
  SIGN_ON,
} from './record-statements.ts';

/** With the `sourceEventId` these identify an event (ATT-10). */
type EventOwner = Pick<SignOnEvent, 'integratorId' | 'builderId' | 'projectId'>;

/** Result for an event that is accepted or was accepted before. */
interface RecordedEvent {
  outcome: 'CREATED' | 'REPLAYED' | 'ACCEPTED';
  id: string;
  event: SignOnStatus;
  visitId: string | null;
  duplicate: boolean;
}

interface ReceivedEvent {
  owner: EventOwner;
  event: EventPayload;
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Records one event in one transaction. Advisory locks on the ids of the event and of its sign-on serialise it, so that a sign-on and
 * its sign-offs give the same result in any order of arrival, on any number of instances (ATT-14, ATT-18, ATT-21). Throws `FORBIDDEN`
 * (ATT-7), `NOT_FOUND` (ATT-9) and conflicts (ATT-22); the rejected event is stored before the conflict (ATT-28).
 */
export async function recordEvent(
  database: Database,
  owner: EventOwner,
  event: EventPayload,
  now: number,
): Promise<RecordedEvent> {
  const received = { owner, event, now };
  const recorded = event.type === 'SIGN_ON' ? await recordInGroup(database, received) : null;
  return recorded ?? database.write((transaction) => recordSlowPath(transaction, received));
}

/** A sign-on, and the database with the limits of its request. */
interface PendingSignOn {
  database: Database;
  received: ReceivedEvent;
}

/**
 * Groups by integrator and builder, so that a transaction is charged to one integrator's fair share and has the rows of one builder.
 */
type SignOnGroups = Map<string, GroupCommit<PendingSignOn, RecordedEvent | null>>;

const groupsOfWriters = new WeakMap<TransactionRunner, SignOnGroups>();

/** Records a sign-on in a transaction that it may share with others. Returns null if it wrote nothing. */
async function recordInGroup(database: Database, received: ReceivedEvent): Promise<RecordedEvent | null> {
  const { integratorId, builderId } = received.owner;
  const key = `${integratorId} ${builderId}`;
  const groups: SignOnGroups = groupsOfWriters.get(database.writer) ?? new Map();
  const group = groups.get(key) ?? new GroupCommit('sign-ons', recordGroup);
  groupsOfWriters.set(database.writer, groups.set(key, group));
  try {
    return await group.add({ database, received });
  } catch (error) {
    // The values of another sign-on may be the cause: recorded by itself, each has its own error.
    if (isValueError(error)) return null;
    throw error;
  } finally {
    if (group.isIdle) groups.delete(key);
  }
}

async function recordGroup(signOns: readonly PendingSignOn[]): Promise<(RecordedEvent | null)[]> {
  // Of several with the same identity the first is recorded. The others write nothing, and are then found to be replays or conflicts.
  const distinct = new Map<string, ReceivedEvent>();
  for (const { received } of signOns.toReversed()) {
    distinct.set(toLockKey(received.owner, received.event.sourceEventId), received);
  }
  const [{ database }] = signOns as [PendingSignOn];
  const recorded = await database.write((transaction) => recordSignOns(transaction, [...distinct.values()]));
  return signOns.map(({ received }) => recorded.get(received) ?? null);
}

/** Records new sign-ons of one integrator and builder, no two of the same identity, in one round trip. Returns those that it wrote. */
export async function recordSignOns(
  transaction: Transaction,
  signOns: readonly ReceivedEvent[],
): Promise<Map<ReceivedEvent, RecordedEvent>> {
  const recorded = new Map<ReceivedEvent, RecordedEvent>();
  const keys: string[] = [];
  const columns: unknown[][] = [[], [], [], [], [], [], [], []];
  for (const received of signOns) {
    const { owner, event, now } = received;
    const id = newId('signOnEvent', now);
    const visitId = newId('signOnVisit', now);
    recorded.set(received, { ...APPLIED, id, visitId });
    const { workerId, sourceEventId, occurredAt, deviceId } = event;
    const at = new Date(now).toISOString();
    keys.push(toLockKey(owner, sourceEventId));
    const row = [id, at, owner.projectId, workerId, sourceEventId, occurredAt, deviceId, visitId];
    for (const [index, value] of row.entries()) columns[index]!.push(value);
  }
  const { integratorId, builderId } = signOns[0]!.owner;
  const locked = transaction.query([LOCK_EVENTS, [keys]]);
  const insert: BoundStatement = [FAST_SIGN_ONS, [integratorId, builderId, ...columns]];
  const [[inserted]] = await Promise.all([transaction.commit(insert), locked]);
  const ids = new Set(inserted!.map(({ id }) => id));
  for (const [received, { id }] of recorded) if (!ids.has(id)) recorded.delete(received);
  return recorded;
}

/** Records any event in two round trips: reads the facts, decides, and writes the result. */
export async function recordSlowPath(transaction: Transaction, received: ReceivedEvent): Promise<RecordedEvent> {
  const { event } = received;
  const facts = await readFacts(transaction, received);
  if (!facts.projectExists) throw notFound('Project');
  if (!facts.siteAccess) throw forbidden('The worker has no site access, present or past, to this project.');
  const { stored, signOn } = facts;
  const decision = decide({ event, stored, signOn, visit: signOn?.visit ?? null });
  switch (decision.outcome) {
    case 'CONFLICT':
      await transaction.commit(toConflictStatement(received, decision.code));
      throw conflict(decision.code, CONFLICTS[decision.code]);
    case 'REPLAYED':
      return { ...decision, id: stored!.id, visitId: stored!.visitId };
    default:
      return insertEvent(transaction, received, facts, decision);
  }
}

interface StoredFacts {
  projectExists: boolean;
  siteAccess: boolean;
  stored: StoredEvent | null;
  signOn: ({ visitId: string | null; visit: VisitState | null } & EventPayload) | null;
  /** Sign-offs that wait for this event, in order of receipt. */
  waiting: (EventPayload & { id: string })[] | null;
}

async function readFacts(transaction: Transaction, received: ReceivedEvent): Promise<StoredFacts> {
  const { integratorId, builderId, projectId } = received.owner;
  const { sourceEventId, sourceSignOnEventId, workerId } = received.event;
  const values = [integratorId, builderId, projectId, workerId, sourceEventId, sourceSignOnEventId];
  const identities = sourceSignOnEventId === null ? [sourceEventId] : [sourceEventId, sourceSignOnEventId];
  const locked = transaction.query([LOCK_EVENTS, [identities.map((id) => toLockKey(received.owner, id))]]);
  const [, [facts]] = await Promise.all([locked, transaction.query([READ_FACTS, values])]);
  return facts as unknown as StoredFacts;
}

/** Returns the key of the advisory lock under which events of the identity are recorded. */
export const toLockKey = ({ integratorId, builderId, projectId }: EventOwner, sourceEventId: string | null): string =>
  JSON.stringify([integratorId, builderId, projectId, sourceEventId]);

async function insertEvent(
  transaction: Transaction,
  received: ReceivedEvent,
  { signOn, waiting }: StoredFacts,
  decision: Decision & { outcome: 'CREATED' | 'ACCEPTED' },
): Promise<RecordedEvent> {
  const { event, now } = received;
  const id = newId('signOnEvent', now);
  const isSignOn = event.type === 'SIGN_ON';
  const visitId = isSignOn ? newId('signOnVisit', now) : decision.outcome === 'CREATED' ? signOn!.visitId : null;
  const { signedOffAt, outcomes } = decideWaitingSignOffs(event, waiting ?? [], visitId);
  const values = toEventValues(received, id);
  const insert: BoundStatement =
    visitId === null
      ? [INSERT_PENDING, values]
      : isSignOn
        ? [SIGN_ON, [...values, visitId, signedOffAt]]
        : [SIGN_OFF, [...values, visitId]];
  const settle = outcomes.length > 0 ? [toSettleStatement(id, outcomes, now)] : [];
  const [inserted] = await transaction.commit(insert, ...settle);
  if (inserted!.length === 0) throw new ConcurrentUpdateError('The visit was ended in between.');
  return { ...decision, id, visitId };
}

const toEventValues = ({ owner, event, now }: ReceivedEvent, id: string): unknown[] => [
  id,
  new Date(now).toISOString(),
  owner.integratorId,
  owner.builderId,
  owner.projectId,
  ...toPayloadValues(event),
];

const toPayloadValues = (event: EventPayload): unknown[] => [
  event.workerId,
  event.sourceEventId,
  event.sourceSignOnEventId,
  event.type,
  event.occurredAt,
  event.deviceId,
];

interface Outcome {
  id: string;
  status: 'APPLIED' | 'REJECTED';
  rejection: string | null;
  visitId: string | null;
}

/** Returns the outcomes of the sign-offs that wait for this event, and when the first of them ends the visit (ATT-18 to ATT-20). */
function decideWaitingSignOffs(
  event: EventPayload,
  waiting: (EventPayload & { id: string })[],
  visitId: string | null,
) {
  const visit: VisitState = { signedOffAt: null, closedAt: null, archivedAt: null };
  const outcomes = waiting.map(({ id, ...signOff }): Outcome => {
    const decision = decide({ event: signOff, stored: null, signOn: event, visit });
    if (decision.outcome === 'CONFLICT') return { id, status: 'REJECTED', rejection: decision.code, visitId: null };
    visit.signedOffAt = signOff.occurredAt;
    return { id, status: 'APPLIED', rejection: null, visitId };
  });
  return { signedOffAt: visit.signedOffAt, outcomes };
}

function toSettleStatement(eventId: string, outcomes: Outcome[], now: number): BoundStatement {
  const column = <K extends keyof Outcome>(name: K) => outcomes.map((outcome) => outcome[name]);
  const at = new Date(now).toISOString();
  return [SETTLE_WAITING, [eventId, at, column('id'), column('status'), column('rejection'), column('visitId')]];
}

function toConflictStatement({ owner, event, now }: ReceivedEvent, code: string): BoundStatement {
  const { integratorId, builderId, projectId } = owner;
  const identity = [new Date(now).toISOString(), integratorId, builderId, projectId, conflictDigest(event), code];
  return [RECORD_CONFLICT, [...identity, ...toPayloadValues(event)]];
}
