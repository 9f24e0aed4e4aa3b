import { createHash } from 'node:crypto';
import type { SignOnStatus } from '../../schema/enums.ts';
import type { Database } from '../../src/database/database.ts';
import { type Bound, Overtaken, type Transaction } from '../../src/database/transactions.ts';
import { conflict, forbidden, notFound } from '../../src/errors.ts';
import { newId } from '../../src/ids.ts';
import { CONFLICT, LOCK, READ, SETTLE, SIGN_OFF, SIGN_ON, WAIT } from './record-statements.ts';
import {
  CONFLICTS,
  type Decision,
  decide,
  type Facts,
  type Payload,
  type StoredEvent,
  type VisitState,
} from './situations.ts';

/** Whose event it is. With the `sourceEventId` it is the identity of the event. Part 4 of the specification. */
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

/** An event that was read, in the JSON of the statement. */
type Found = { visitId: string | null; visit: VisitState | null } & Payload;

interface Reading {
  projectExists: boolean;
  siteAccess: boolean;
  stored: StoredEvent | null;
  signOn: Found | null;
  /** Sign-offs that wait for this event, in the order of their receipt. */
  waiting: (Payload & { id: string })[] | null;
}

/**
 * Takes one event: one transaction, in two round trips. It is serialised by the ids of the event and of the sign-on that it
 * names, so that a sign-on and its sign-offs agree in whatever order they arrive. Throws 403, 404 and 409 as "Gate
 * attendance" in part 4 of the specification says, the last once the refused request is kept.
 */
export async function recordEvent(database: Database, owner: Owner, event: Payload, now: number): Promise<Recorded> {
  return database.writer.run(async (transaction) => {
    const reading = await read(transaction, owner, event);
    if (!reading.projectExists) throw notFound('Project');
    if (!reading.siteAccess) throw forbidden('The worker has no site access, present or past, to this project.');
    const { stored, signOn } = reading;
    const decision = decide({ event, stored, signOn, visit: signOn?.visit ?? null });
    switch (decision.status) {
      case 409:
        await transaction.commit(refusal(owner, event, decision.code, now));
        throw conflict(decision.code, CONFLICTS[decision.code]);
      case 200:
        return { ...decision, id: stored!.id, visitId: stored!.visitId };
      default:
        return accept(transaction, { owner, event, now, reading, decision });
    }
  });
}

async function read(transaction: Transaction, owner: Owner, event: Payload): Promise<Reading> {
  const { integratorId, builderId, projectId } = owner;
  const key = (sourceEventId: string) => JSON.stringify([integratorId, builderId, projectId, sourceEventId]);
  const { sourceEventId, sourceSignOnEventId, workerId } = event;
  const [, [found]] = await Promise.all([
    transaction.query([LOCK, [key(sourceEventId), key(sourceSignOnEventId ?? sourceEventId)]]),
    transaction.query([READ, [integratorId, builderId, projectId, workerId, sourceEventId, sourceSignOnEventId]]),
  ]);
  return found as unknown as Reading;
}

interface Acceptance {
  owner: Owner;
  event: Payload;
  now: number;
  reading: Reading;
  decision: Decision & { status: 201 | 202 };
}

async function accept(transaction: Transaction, acceptance: Acceptance): Promise<Recorded> {
  const { event, now, reading, decision } = acceptance;
  const id = newId('signOnEvent', now);
  const begins = event.type === 'SIGN_ON';
  const visitId = begins ? newId('signOnVisit', now) : decision.status === 201 ? reading.signOn!.visitId : null;
  const waiting = settle(acceptance, visitId);
  const [[kept]] = (await transaction.commit(
    insertion(acceptance, id, visitId, waiting.visit),
    ...(waiting.outcomes.length > 0 ? [settlement(id, waiting.outcomes, now)] : []),
  )) as [unknown[]];
  if (!kept) throw new Overtaken('The visit was ended in between.');
  return { ...decision, id, visitId };
}

interface Outcome {
  id: string;
  status: 'APPLIED' | 'REJECTED';
  rejection: string | null;
  visitId: string | null;
}

/** What becomes of the sign-offs that have waited for this event, and of the visit that it begins. */
function settle({ event, reading }: Acceptance, visitId: string | null): { visit: VisitState; outcomes: Outcome[] } {
  const visit: VisitState = { signedOnAt: event.occurredAt, signedOffAt: null, closedAt: null, archivedAt: null };
  const outcomes = (reading.waiting ?? []).map(({ id, ...signOff }): Outcome => {
    const facts: Facts = { event: signOff, stored: null, signOn: event, visit };
    const decision = decide(facts);
    if (decision.status === 409) return { id, status: 'REJECTED', rejection: decision.code, visitId: null };
    visit.signedOffAt = signOff.occurredAt;
    return { id, status: 'APPLIED', rejection: null, visitId };
  });
  return { visit, outcomes };
}

function insertion(
  { owner, event, now, decision, reading }: Acceptance,
  id: string,
  visitId: string | null,
  visit: VisitState,
): Bound {
  const { integratorId, builderId, projectId } = owner;
  const at = new Date(now).toISOString();
  const values = [
    ...[id, at, integratorId, builderId, projectId, event.workerId, event.sourceEventId, event.sourceSignOnEventId],
    ...[event.type, event.occurredAt, event.deviceId],
  ];
  if (decision.status === 202) return [WAIT, values];
  if (event.type === 'SIGN_ON') return [SIGN_ON, [...values, visitId, visit.signedOffAt, anomalyOf(visit)]];
  const ended = { ...reading.signOn!.visit!, signedOffAt: event.occurredAt };
  return [SIGN_OFF, [...values, visitId, anomalyOf(ended)]];
}

/** A sign-off earlier than its sign-on is what a gate observed: people look at it. Part 10 of the decisions. */
function anomalyOf({ signedOnAt, signedOffAt }: VisitState) {
  const backwards = signedOffAt !== null && Date.parse(signedOffAt) < Date.parse(signedOnAt);
  return backwards ? 'SIGN_OFF_BEFORE_SIGN_ON' : null;
}

function settlement(eventId: string, outcomes: Outcome[], now: number): Bound {
  const column = <K extends keyof Outcome>(name: K) => outcomes.map((outcome) => outcome[name]);
  const at = new Date(now).toISOString();
  return [SETTLE, [eventId, at, column('id'), column('status'), column('rejection'), column('visitId')]];
}

function refusal(owner: Owner, event: Payload, code: string, now: number): Bound {
  const { sourceEventId, sourceSignOnEventId, workerId, type, occurredAt, deviceId } = event;
  const payload = [sourceEventId, sourceSignOnEventId, workerId, type, occurredAt, deviceId];
  const digest = createHash('sha256').update(JSON.stringify(payload)).digest('hex');
  const { integratorId, builderId, projectId } = owner;
  return [CONFLICT, [new Date(now).toISOString(), integratorId, builderId, projectId, digest, code, ...payload]];
}
