import type { Project } from '../../entities/project.entity.ts';
import { conflictDigest, SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { DAY, HOUR, iso, MINUTE } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import type { Random } from './random.ts';

/** Days of history, eight weeks. */
const DAYS = 56;
const MAX_SITES = 5;
/** Milliseconds from an event to its receipt, unless the gate was offline. */
const DELAY = 1_200;

type GateEvent = Pick<
  SignOnEvent,
  'sourceEventId' | 'sourceSignOnEventId' | 'workerId' | 'type' | 'occurredAt' | 'deviceId'
> & { receivedAt: number };

/** The gate of a project. */
interface Gate {
  owner: Pick<SignOnEvent, 'integratorId' | 'builderId' | 'projectId'>;
  deviceId: string;
  /** Whether it loses its network each afternoon: it then sends its sign-offs on the next morning. */
  isOffline: boolean;
}

/** Adds eight weeks of attendance, and a morning on which some workers are on site; none without an integrator. */
export function addAttendance(context: GeneratorContext, projects: Project[], integratorId: string | null): void {
  if (integratorId !== null) new AttendanceGenerator(context).addAll(projects, integratorId);
}

class AttendanceGenerator {
  readonly #context: GeneratorContext;
  readonly #random: Random;
  /** Days with their workers: nobody is at two sites on a day. */
  readonly #chosen = new Set<string>();

  constructor(context: GeneratorContext) {
    this.#context = context;
    this.#random = context.random('attendance');
  }

  addAll(projects: Project[], integratorId: string): void {
    const sites = projects.filter(({ status }) => status === 'IN_PROGRESS').slice(0, MAX_SITES);
    const gates = sites.map(({ id: projectId, builderId }, index) => ({
      owner: { integratorId, builderId, projectId },
      deviceId: `turnstile-${this.#random.between(1, 4)}`,
      isOffline: index === 1,
    }));
    for (const gate of gates) {
      for (let day = -DAYS; day < 0; day++) if (this.#context.calendar.isWeekday(day)) this.#addPastDay(gate, day);
      this.#addMorning(gate);
    }
    this.#addConflicts(gates);
  }

  /** Adds a working day: workers come in the morning and leave in the afternoon; some visits are closed by hand. */
  #addPastDay(gate: Gate, day: number): void {
    const { calendar } = this.#context;
    for (const workerId of this.#chooseWorkers(gate, day, this.#random.between(4, 8))) {
      const on = this.#createEvent(gate, workerId, 'SIGN_ON', this.#pickArrival(day));
      const go = calendar.instantOf(day, this.#random.between(14 * 60, 17 * 60)) + this.#pickSeconds();
      const receivedAt = gate.isOffline && day < -1 ? calendar.instantOf(day + 1, 5 * 60 + 50) : undefined;
      if (this.#random.chance(0.02)) this.#addVisit(gate, on, null, iso(go));
      else this.#addVisit(gate, on, this.#createEvent(gate, workerId, 'SIGN_OFF', go, on, receivedAt));
    }
  }

  /** Adds today's sign-ons until now, and a few workers who have left. Before seven, the shift has begun in the night. */
  #addMorning(gate: Gate): void {
    const { calendar, now } = this.#context;
    const midnight = calendar.instantOf(0, 0);
    const latest = now - 2 * MINUTE;
    for (const [index, workerId] of this.#chooseWorkers(gate, 0, this.#random.between(7, 12)).entries()) {
      const come =
        calendar.minutes >= 7 * 60
          ? this.#pickArrival(0)
          : this.#random.between(Math.max(midnight, now - 3 * HOUR), Math.max(midnight, latest));
      if (come > latest) continue;
      // The first of them were sent while the network was back for a moment; the others are not here yet.
      if (gate.isOffline && index >= 4) {
        if (index < 7 && now - come > HOUR) this.#addPendingSignOff(gate, workerId, come);
        continue;
      }
      const receivedAt = gate.isOffline ? Math.max(come, latest - 10 * MINUTE) : undefined;
      const on = this.#createEvent(gate, workerId, 'SIGN_ON', come, null, receivedAt);
      const go = come + this.#random.between(2, 9) * HOUR;
      const mayLeave = this.#random.chance(calendar.minutes >= 15 * 60 ? 0.5 : 0.15);
      const hasLeft = !gate.isOffline && go < latest && mayLeave;
      this.#addVisit(gate, on, hasLeft ? this.#createEvent(gate, workerId, 'SIGN_OFF', go, on) : null);
    }
  }

  /** Adds a sign-off that overtook its sign-on, which the gate has not sent yet. */
  #addPendingSignOff(gate: Gate, workerId: string, come: number): void {
    const { now } = this.#context;
    const lost = this.#createEvent(gate, workerId, 'SIGN_ON', come);
    const go = this.#random.between(come + 30 * MINUTE, now - 20 * MINUTE);
    const off = this.#createEvent(gate, workerId, 'SIGN_OFF', go, lost, now - 12 * MINUTE);
    this.#addEvent(gate, off, 'PENDING_SIGN_ON', null);
  }

  /** Adds two conflicts about the last working day: one visit was closed by hand, the other ended at another gate. */
  #addConflicts([first, second]: Gate[]): void {
    const { calendar } = this.#context;
    let day = -1;
    while (!calendar.isWeekday(day)) day--;
    const at = (hours: number, minutes: number) => calendar.instantOf(day, hours * 60 + minutes);
    const closed = first && this.#findWorkers(first, day).at(-1);
    if (closed) {
      const on = this.#createEvent(first, closed, 'SIGN_ON', at(6, 12));
      this.#addVisit(first, on, null, iso(at(15, 0)));
      const off = this.#createEvent(first, closed, 'SIGN_OFF', at(16, 41), on);
      this.#addConflict(first, off, 'ATTENDANCE_CLOSED', 3);
    }
    const ended = second && this.#findWorkers(second, day).at(-1);
    if (ended) {
      const on = this.#createEvent(second, ended, 'SIGN_ON', at(6, 25));
      this.#addVisit(second, on, this.#createEvent(second, ended, 'SIGN_OFF', at(15, 2), on));
      const again = { ...this.#createEvent(second, ended, 'SIGN_OFF', at(16, 30), on), deviceId: 'turnstile-9' };
      this.#addConflict(second, again, 'ALREADY_SIGNED_OFF', 1);
    }
  }

  /** Returns the workers who may enter on a day. */
  #findWorkers({ owner }: Gate, day: number): string[] {
    const midnight = this.#context.calendar.instantOf(day, 0);
    return this.#context.rows
      .of(SiteAccess)
      .filter(({ projectId, grantedAt }) => projectId === owner.projectId && grantedAt < iso(midnight))
      .filter(({ revokedAt }) => revokedAt === null || revokedAt > iso(midnight + DAY))
      .map(({ workerId }) => workerId);
  }

  #chooseWorkers(gate: Gate, day: number, count: number): string[] {
    const free = this.#findWorkers(gate, day).filter((id) => !this.#chosen.has(`${day} ${id}`));
    const workers = this.#random.sample(free, count);
    for (const id of workers) this.#chosen.add(`${day} ${id}`);
    return workers;
  }

  /** Most come before seven, some until nine. */
  #pickArrival(day: number): number {
    const [first, last] = this.#random.chance(0.8) ? [6, 7] : [7, 9];
    return this.#context.calendar.instantOf(day, this.#random.between(first! * 60, last! * 60)) + this.#pickSeconds();
  }

  #pickSeconds = () => this.#random.between(0, 59) * 1_000;

  #createEvent(
    { deviceId }: Gate,
    workerId: string,
    type: GateEvent['type'],
    at: number,
    on: GateEvent | null = null,
    receivedAt = at + DELAY,
  ): GateEvent {
    const sourceEventId = `${deviceId}-${this.#random.digits(12)}`;
    const sourceSignOnEventId = on?.sourceEventId ?? null;
    return { sourceEventId, sourceSignOnEventId, workerId, type, occurredAt: iso(at), deviceId, receivedAt };
  }

  #addVisit(gate: Gate, on: GateEvent, off: GateEvent | null, closedAt: string | null = null): void {
    const createdAt = iso(on.receivedAt);
    const { builderId, projectId } = gate.owner;
    const endedAt = closedAt ?? (off && iso(off.receivedAt));
    const id = this.#random.id('signOnVisit', createdAt);
    this.#context.rows.add(SignOnVisit, {
      id,
      createdAt,
      updatedAt: endedAt && endedAt > createdAt ? endedAt : createdAt,
      builderId,
      projectId,
      workerId: on.workerId,
      signedOnAt: on.occurredAt,
      signedOffAt: off?.occurredAt ?? null,
      closedAt,
      closedBy: closedAt && 'Site office',
    });
    this.#addEvent(gate, on, 'APPLIED', id);
    if (off) this.#addEvent(gate, off, 'APPLIED', id);
  }

  #addEvent({ owner }: Gate, event: GateEvent, status: SignOnEvent['status'], visitId: string | null): void {
    const { receivedAt, ...fields } = event;
    const createdAt = iso(receivedAt);
    const id = this.#random.id('signOnEvent', createdAt);
    const dates = { createdAt, updatedAt: createdAt };
    this.#context.rows.add(SignOnEvent, { id, ...dates, ...owner, ...fields, status, visitId, rejection: null });
  }

  /** Adds an event that was refused with the code, the last time early today. */
  #addConflict({ owner }: Gate, event: GateEvent, code: SignOnConflict['code'], answers: number): void {
    const { calendar, now } = this.#context;
    const { receivedAt: _, ...fields } = event;
    const answeredAt = iso(Math.min(now - MINUTE, calendar.instantOf(0, 5 * 60 + 55)));
    const dates = { createdAt: answeredAt, updatedAt: answeredAt };
    this.#context.rows.add(SignOnConflict, {
      ...dates,
      answers,
      digest: conflictDigest(fields),
      code,
      ...owner,
      ...fields,
    });
  }
}
