import { conflictDigest } from '../../../entities/sign-on-conflict.entity.ts';
import type { SignOnStatus } from '../../../schema/enums.ts';
import type { Database } from '../../database/database.ts';
import { ConcurrentUpdateError } from '../../database/write/retry.ts';
import type { BoundStatement, Transaction } from '../../database/write/transaction-runner.ts';
import { conflict, forbidden, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import {
  CONFLICT,
  LOCK,
  PLAIN_SIGN_OFF,
  PLAIN_SIGN_ON,
  READ,
  SETTLE,
  SIGN_OFF,
  SIGN_ON,
  WAIT,
} from './record-statements.ts';
import {
  CONFLICTS,
  type Decision,
  decide,
  type Facts,
  type Payload,
  type StoredEvent,
  type VisitState,
} from './situations.ts';

/** Whose event it is. With the `sourceEventId` it is the identity of the event (ATT-10). */
export interface Owner {
  integratorId: string;
  builderId: string;
  projectId: string;
}

/** What became of an event that was accepted, now or before. */
export interface Recorded {
  status: 200 | 201 | 202;
  id: string;
  event: SignOnStatus;
  visitId: string | null;
  duplicate: boolean;
}

interface Arrival {
  owner: Owner;
  event: Payload;
  now: number;
}

/**
 * Takes one event in one transaction. It is serialised by the ids of the event and of the sign-on that it names, so that a
 * sign-on and its sign-offs agree in whatever order they arrive, on any number of instances (ATT-14, ATT-18, ATT-21). Throws
 * 403 (ATT-7), 404 (ATT-9) and 409 (ATT-22), the last once the refused request is kept (ATT-28).
 */
export async function recordEvent(database: Database, owner: Owner, event: Payload, now: number): Promise<Recorded> {
  const arrival = { owner, event, now };
  const plainly = await database.write((transaction) => recordPlainly(transaction, arrival));
  return plainly ?? database.write((transaction) => recordCarefully(transaction, arrival));
}

const OPEN: VisitState = { signedOffAt: null, closedAt: null, archivedAt: null };

/**
 * One round trip for what nearly always arrives: the first sign-on of its id, and the first sign-off of an open visit of the
 * same worker. The decision is made for these facts, and the statement writes where they are the facts; else null.
 */
async function recordPlainly(transaction: Transaction, arrival: Arrival): Promise<Recorded | null> {
  const { event, now } = arrival;
  const begins = event.type === 'SIGN_ON';
  const signOn = begins ? null : ({ ...event, type: 'SIGN_ON' } as const);
  const decision = decide({ event, stored: null, signOn, visit: signOn && OPEN });
  if (decision.status !== 201) return null;
  const id = newId('signOnEvent', now);
  const values = valuesOf(arrival, id);
  const write: BoundStatement = begins
    ? [PLAIN_SIGN_ON, [...values, newId('signOnVisit', now)]]
    : [PLAIN_SIGN_OFF, values];
  const locked = transaction.query(lockOf(arrival));
  const [[rows]] = await Promise.all([transaction.commit(write), locked]);
  const [kept] = rows!;
  return kept ? { ...decision, id, visitId: kept.visitId as string } : null;
}

/** Two round trips: reads all that the answer depends on, decides, and writes what follows. */
async function recordCarefully(transaction: Transaction, arrival: Arrival): Promise<Recorded> {
  const { event } = arrival;
  const reading = await read(transaction, arrival);
  if (!reading.projectExists) throw notFound('Project');
  if (!reading.siteAccess) throw forbidden('The worker has no site access, present or past, to this project.');
  const { stored, signOn } = reading;
  const decision = decide({ event, stored, signOn, visit: signOn?.visit ?? null });
  switch (decision.status) {
    case 409:
      await transaction.commit(refusal(arrival, decision.code));
      throw conflict(decision.code, CONFLICTS[decision.code]);
    case 200:
      return { ...decision, id: stored!.id, visitId: stored!.visitId };
    default:
      return accept(transaction, arrival, reading, decision);
  }
}

interface Reading {
  projectExists: boolean;
  siteAccess: boolean;
  stored: StoredEvent | null;
  signOn: ({ visitId: string | null; visit: VisitState | null } & Payload) | null;
  /** Sign-offs that wait for this event, in the order of their receipt. */
  waiting: (Payload & { id: string })[] | null;
}

async function read(transaction: Transaction, arrival: Arrival): Promise<Reading> {
  const { integratorId, builderId, projectId } = arrival.owner;
  const { sourceEventId, sourceSignOnEventId, workerId } = arrival.event;
  const values = [integratorId, builderId, projectId, workerId, sourceEventId, sourceSignOnEventId];
  const [, [found]] = await Promise.all([transaction.query(lockOf(arrival)), transaction.query([READ, values])]);
  return found as unknown as Reading;
}

function lockOf({ owner, event }: Arrival): BoundStatement {
  const { integratorId, builderId, projectId } = owner;
  const key = (sourceEventId: string) => JSON.stringify([integratorId, builderId, projectId, sourceEventId]);
  return [LOCK, [key(event.sourceEventId), key(event.sourceSignOnEventId ?? event.sourceEventId)]];
}

async function accept(
  transaction: Transaction,
  arrival: Arrival,
  reading: Reading,
  decision: Decision & { status: 201 | 202 },
): Promise<Recorded> {
  const { event, now } = arrival;
  const id = newId('signOnEvent', now);
  const begins = event.type === 'SIGN_ON';
  const visitId = begins ? newId('signOnVisit', now) : decision.status === 201 ? reading.signOn!.visitId : null;
  const { signedOffAt, outcomes } = settle(event, reading, visitId);
  const values = valuesOf(arrival, id);
  const write: BoundStatement =
    visitId === null
      ? [WAIT, values]
      : begins
        ? [SIGN_ON, [...values, visitId, signedOffAt]]
        : [SIGN_OFF, [...values, visitId]];
  const [kept] = await transaction.commit(write, ...(outcomes.length > 0 ? [settlement(id, outcomes, now)] : []));
  if (kept!.length === 0) throw new ConcurrentUpdateError('The visit was ended in between.');
  return { ...decision, id, visitId };
}

function valuesOf({ owner, event, now }: Arrival, id: string): unknown[] {
  const { integratorId, builderId, projectId } = owner;
  const { workerId, sourceEventId, sourceSignOnEventId, type, occurredAt, deviceId } = event;
  const known = [id, new Date(now).toISOString(), integratorId, builderId, projectId];
  return [...known, workerId, sourceEventId, sourceSignOnEventId, type, occurredAt, deviceId];
}

interface Outcome {
  id: string;
  status: 'APPLIED' | 'REJECTED';
  rejection: string | null;
  visitId: string | null;
}

/** What becomes of the sign-offs that have waited for this event, and when the first of them ends the visit (ATT-18 to ATT-20). */
function settle(event: Payload, { waiting }: Reading, visitId: string | null) {
  const visit = { ...OPEN };
  const outcomes = (waiting ?? []).map(({ id, ...signOff }): Outcome => {
    const facts: Facts = { event: signOff, stored: null, signOn: event, visit };
    const decision = decide(facts);
    if (decision.status === 409) return { id, status: 'REJECTED', rejection: decision.code, visitId: null };
    visit.signedOffAt = signOff.occurredAt;
    return { id, status: 'APPLIED', rejection: null, visitId };
  });
  return { signedOffAt: visit.signedOffAt, outcomes };
}

function settlement(eventId: string, outcomes: Outcome[], now: number): BoundStatement {
  const column = <K extends keyof Outcome>(name: K) => outcomes.map((outcome) => outcome[name]);
  const at = new Date(now).toISOString();
  return [SETTLE, [eventId, at, column('id'), column('status'), column('rejection'), column('visitId')]];
}

function refusal({ owner, event, now }: Arrival, code: string): BoundStatement {
  const { integratorId, builderId, projectId } = owner;
  const { sourceEventId, sourceSignOnEventId, workerId, type, occurredAt, deviceId } = event;
  const known = [new Date(now).toISOString(), integratorId, builderId, projectId, conflictDigest(event), code];
  return [CONFLICT, [...known, sourceEventId, sourceSignOnEventId, workerId, type, occurredAt, deviceId]];
}
