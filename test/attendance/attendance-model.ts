import type { GateEvent } from '../support/attendance.ts';

/*
 * In-memory model of the contract's rules for the events of one integrator on one project, independent of the implementation.
 */

export interface Visit {
  workerId: string;
  on: string;
  off: string | null;
  closed: boolean;
  archived: boolean;
}

interface ReceivedEvent {
  event: GateEvent;
  state: 'APPLIED' | 'PENDING_SIGN_ON' | { rejected: string };
  visit: Visit | null;
}

/** Expected response. */
export interface Expected {
  status: number;
  code?: string;
  state?: string;
  visit?: Visit | null;
}

export class AttendanceModel {
  readonly receivedEvents = new Map<string, ReceivedEvent>();
  readonly visits: Visit[] = [];

  /** Returns the response to a valid event of a worker with site access. */
  send(event: GateEvent): Expected {
    const before = this.receivedEvents.get(event.sourceEventId);
    if (before) return this.#repeat(before, event);
    if (event.type === 'SIGN_ON') return this.#signOn(event);
    const reason = this.#findConflict(event);
    if (reason) return { status: 409, code: reason };
    const on = this.receivedEvents.get(event.sourceSignOnEventId!);
    if (!on) {
      this.receivedEvents.set(event.sourceEventId, { event, state: 'PENDING_SIGN_ON', visit: null });
      this.#rejectPendingSignOffs(event);
      return { status: 202, state: 'PENDING_SIGN_ON', visit: null };
    }
    on.visit!.off = event.occurredAt;
    this.receivedEvents.set(event.sourceEventId, { event, state: 'APPLIED', visit: on.visit });
    this.#rejectPendingSignOffs(event);
    return { status: 201, state: 'APPLIED', visit: on.visit };
  }

  #repeat({ event: first, state, visit }: ReceivedEvent, event: GateEvent): Expected {
    const same = (['type', 'workerId', 'sourceSignOnEventId', 'occurredAt', 'deviceId'] as const).every(
      (name) => (first[name] ?? null) === (event[name] ?? null),
    );
    if (!same) return { status: 409, code: 'EVENT_MISMATCH' };
    return typeof state === 'object' ? { status: 409, code: state.rejected } : { status: 200, state, visit };
  }

  #signOn(event: GateEvent): Expected {
    const visit = { workerId: event.workerId, on: event.occurredAt, off: null, closed: false, archived: false };
    this.visits.push(visit);
    this.receivedEvents.set(event.sourceEventId, { event, state: 'APPLIED', visit });
    // A Map iterates in the order of receipt.
    for (const waiting of this.#findPendingSignOffs(event)) {
      const reason = this.#findConflict(waiting.event);
      if (reason) waiting.state = { rejected: reason };
      else {
        Object.assign(waiting, { state: 'APPLIED', visit });
        Object.assign(visit, { off: waiting.event.occurredAt });
      }
    }
    return { status: 201, state: 'APPLIED', visit };
  }

  /** Returns the conflict of a sign-off with the event that it names, or null. */
  #findConflict({ sourceEventId, sourceSignOnEventId, workerId }: GateEvent): string | null {
    if (!sourceSignOnEventId || sourceSignOnEventId === sourceEventId) return 'SIGN_ON_REQUIRED';
    const on = this.receivedEvents.get(sourceSignOnEventId);
    if (!on) return null;
    if (on.event.type === 'SIGN_OFF') return 'SIGN_ON_REQUIRED';
    if (on.event.workerId !== workerId) return 'WORKER_MISMATCH';
    if (on.visit!.off) return 'ALREADY_SIGNED_OFF';
    return on.visit!.closed || on.visit!.archived ? 'ATTENDANCE_CLOSED' : null;
  }

  #findPendingSignOffs({ sourceEventId }: GateEvent): ReceivedEvent[] {
    return [...this.receivedEvents.values()].filter(
      ({ event, state }) => state === 'PENDING_SIGN_ON' && event.sourceSignOnEventId === sourceEventId,
    );
  }

  #rejectPendingSignOffs(event: GateEvent): void {
    for (const waiting of this.#findPendingSignOffs(event)) waiting.state = { rejected: 'SIGN_ON_REQUIRED' };
  }
}
