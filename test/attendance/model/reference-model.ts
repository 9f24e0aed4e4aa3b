/**
 * What the specification's table of gate attendance says, as a machine of states: written from that table and the contract's rules alone, so
 * that it can judge the service.
 */

/** One event as a gate sends it. `names` is the sign-on that a sign-off refers to. */
export interface ModelEvent {
  id: string;
  type: 'SIGN_ON' | 'SIGN_OFF';
  worker: string;
  names: string | null;
  /** Minute of the day, which is different in each event of the alphabet. */
  at: number;
}

/** A step of a run: an event arrives, or a person ends the visit of a sign-on. */
export type Step = { event: ModelEvent } | { close: string } | { archive: string };

export type Code =
  | 'EVENT_MISMATCH'
  | 'SIGN_ON_REQUIRED'
  | 'WORKER_MISMATCH'
  | 'ALREADY_SIGNED_OFF'
  | 'ATTENDANCE_CLOSED';

export interface ModelState {
  /** Accepted events by id, in order of receipt. */
  events: Record<string, { event: ModelEvent; status: 'APPLIED' | 'PENDING_SIGN_ON' | 'REJECTED'; code: Code | null }>;
  /** Visits by the id of their sign-on. */
  visits: Record<string, { signedOffAt: number | null; isClosed: boolean; isArchived: boolean }>;
}

/** `201 APPLIED`, `202 PENDING_SIGN_ON`, `200 APPLIED` for a replay, `409 CODE`; for a person's step what became of the visit. */
export type Answer = string;

export const EMPTY: ModelState = { events: {}, visits: {} };

/** Returns the answer to a step, and the state after it. */
export function respond(state: ModelState, step: Step): [answer: Answer, next: ModelState] {
  if ('event' in step) return receive(state, step.event);
  return 'close' in step ? close(state, step.close) : archive(state, step.archive);
}

function receive(state: ModelState, event: ModelEvent): [Answer, ModelState] {
  const { [event.id]: known } = state.events;
  if (known && !isEqual(known.event, event)) return ['409 EVENT_MISMATCH', state];
  if (known?.status === 'REJECTED') return [`409 ${known.code}`, state];
  if (known) return [`200 ${known.status}`, state];
  const code = event.type === 'SIGN_OFF' ? findConflict(state, event) : null;
  if (code) return [`409 ${code}`, state];
  const isPending = event.type === 'SIGN_OFF' && !state.events[event.names!];
  const status = isPending ? 'PENDING_SIGN_ON' : 'APPLIED';
  const accepted = accept(state, event, status);
  const waiting = Object.values(accepted.events).filter(
    (other) => other.status === 'PENDING_SIGN_ON' && other.event.names === event.id,
  );
  const next = waiting.reduce((after, { event: signOff }) => settle(after, signOff), accepted);
  return [`${isPending ? 202 : 201} ${status}`, next];
}

/** Why a new sign-off contradicts what has been accepted; null when it does not, or when its sign-on has not arrived. */
function findConflict(state: ModelState, { id, worker, names }: ModelEvent): Code | null {
  if (names === null || names === id) return 'SIGN_ON_REQUIRED';
  const { [names]: named } = state.events;
  if (!named) return null;
  if (named.event.type === 'SIGN_OFF') return 'SIGN_ON_REQUIRED';
  if (named.event.worker !== worker) return 'WORKER_MISMATCH';
  const visit = state.visits[names]!;
  if (visit.signedOffAt !== null) return 'ALREADY_SIGNED_OFF';
  return visit.isClosed || visit.isArchived ? 'ATTENDANCE_CLOSED' : null;
}

function accept(state: ModelState, event: ModelEvent, status: 'APPLIED' | 'PENDING_SIGN_ON'): ModelState {
  const events = { ...state.events, [event.id]: { event, status, code: null } };
  if (event.type === 'SIGN_ON')
    return {
      events,
      visits: { ...state.visits, [event.id]: { signedOffAt: null, isClosed: false, isArchived: false } },
    };
  return { events, visits: status === 'APPLIED' ? end(state.visits, event) : state.visits };
}

/** Decides a sign-off that has waited for the event that it names. */
function settle(state: ModelState, signOff: ModelEvent): ModelState {
  const code = findConflict(state, signOff);
  const status = code ? ('REJECTED' as const) : ('APPLIED' as const);
  const events = { ...state.events, [signOff.id]: { event: signOff, status, code } };
  return { events, visits: code ? state.visits : end(state.visits, signOff) };
}

const end = (visits: ModelState['visits'], { names, at }: ModelEvent) => ({
  ...visits,
  [names!]: { ...visits[names!]!, signedOffAt: at },
});

function close(state: ModelState, signOn: string): [Answer, ModelState] {
  const { [signOn]: visit } = state.visits;
  if (!visit) return ['no visit', state];
  if (visit.isArchived || visit.signedOffAt !== null) return ['refused', state];
  return ['done', { ...state, visits: { ...state.visits, [signOn]: { ...visit, isClosed: true } } }];
}

function archive(state: ModelState, signOn: string): [Answer, ModelState] {
  const { [signOn]: visit } = state.visits;
  if (!visit) return ['no visit', state];
  return ['done', { ...state, visits: { ...state.visits, [signOn]: { ...visit, isArchived: true } } }];
}

const isEqual = (one: ModelEvent, other: ModelEvent) => JSON.stringify(one) === JSON.stringify(other);
