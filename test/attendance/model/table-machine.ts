import { decide, type EventPayload, type StoredEvent } from '../../../src/domain/attendance/decision-table.ts';
import { type Code, type ModelEvent, type ModelState, respond } from './reference-model.ts';
import type { Machine } from './search.ts';

type Table = Parameters<typeof decide>[1];

/** Instant of a minute of the test's day. */
export const toInstant = (at: number) => new Date(Date.UTC(2026, 4, 20, 0, at)).toISOString();

const toPayload = ({ id, type, worker, names, at }: ModelEvent): EventPayload => ({
  sourceEventId: id,
  sourceSignOnEventId: names,
  workerId: worker,
  type,
  occurredAt: toInstant(at),
  deviceId: null,
});

/** A machine whose decisions are those of the service's table; what follows from them is the model's. */
export const createTableMachine =
  (table?: Table): Machine =>
  (state, step) => {
    if (!('event' in step)) return respond(state, step);
    const { event } = step;
    const decision = decideOn(state, event, table);
    if (decision.outcome === 'CONFLICT') return [`409 ${decision.code}`, state];
    if (decision.outcome === 'REPLAYED') return [`200 ${decision.event}`, state];
    const isSignOn = event.type === 'SIGN_ON';
    const applied = decision.outcome === 'CREATED';
    let next: ModelState = {
      events: { ...state.events, [event.id]: { event, status: decision.event as 'APPLIED', code: null } },
      visits: isSignOn
        ? { ...state.visits, [event.id]: { signedOffAt: null, isClosed: false, isArchived: false } }
        : applied
          ? signOff(state, event)
          : state.visits,
    };
    const waiting = Object.values(state.events).filter(
      ({ status, event: other }) => status === 'PENDING_SIGN_ON' && other.names === event.id,
    );
    for (const { event: off } of waiting) {
      const { [off.id]: _, ...others } = next.events;
      const settled = decideOn({ ...next, events: others }, off, table);
      const code = settled.outcome === 'CONFLICT' ? (settled.code as Code) : null;
      next = {
        events: { ...next.events, [off.id]: { event: off, status: code ? 'REJECTED' : 'APPLIED', code } },
        visits: code ? next.visits : signOff(next, off),
      };
    }
    return [`${applied ? 201 : 202} ${decision.event}`, next];
  };

function decideOn({ events, visits }: ModelState, event: ModelEvent, table: Table) {
  const { [event.id]: stored, [event.names ?? '']: named } = events;
  const { [event.names ?? '']: visit } = visits;
  return decide(
    {
      event: toPayload(event),
      stored: stored
        ? ({
            ...toPayload(stored.event),
            id: '',
            visitId: null,
            status: stored.status,
            rejection: stored.code,
          } as StoredEvent)
        : null,
      signOn: named ? toPayload(named.event) : null,
      visit: visit
        ? {
            signedOffAt: visit.signedOffAt === null ? null : toInstant(visit.signedOffAt),
            closedAt: visit.isClosed ? toInstant(0) : null,
            archivedAt: visit.isArchived ? toInstant(0) : null,
          }
        : null,
    },
    table,
  );
}

const signOff = ({ visits }: ModelState, { names, at }: ModelEvent) => ({
  ...visits,
  [names!]: { ...visits[names!]!, signedOffAt: at },
});
