import { conflictDigest, SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import type { BuilderContext } from './builder-context.ts';
import { HOUR, iso, MINUTE } from './local-calendar.ts';

/** Days of history, eight weeks. */
const DAYS = 56;
const MAX_SITES = 5;
/** Milliseconds from an event to its receipt, unless the gate was offline. */
const DELAY = 1_200;

type GateEvent = Pick<
  SignOnEvent,
  'sourceEventId' | 'sourceSignOnEventId' | 'workerId' | 'type' | 'occurredAt' | 'deviceId'
>;

/** An event with the instant of its receipt, in milliseconds. */
interface ReceivedEvent {
  event: GateEvent;
  receivedAt: number;
}

/** The gate of a project. */
interface Gate {
  owner: Pick<SignOnEvent, 'integratorId' | 'builderId' | 'projectId'>;
  deviceId: string;
  /** Whether it loses its network each afternoon: it then sends its sign-offs on the next morning. */
  isOffline: boolean;
}

/** Adds eight weeks of attendance, and a morning on which some workers are on site; none without an integrator. */
export function addAttendance(context: BuilderContext): void {
  const { integratorId, random, calendar } = context;
  if (integratorId === null) return;
  const generator = new AttendanceGenerator(context);
  const gates = context.runningProjects.slice(0, MAX_SITES).map(({ id, builderId }, index): Gate => {
    const deviceId = `turnstile-${random.between(1, 4)}`;
    return { owner: { integratorId, builderId, projectId: id }, deviceId, isOffline: index === 1 };
  });
  for (const gate of gates) {
    for (let day = -DAYS; day < 0; day++) if (calendar.isWeekday(day)) generator.addPastDay(gate, day);
    generator.addMorning(gate);
  }
  generator.addConflicts(gates as [Gate, Gate]);
}

class AttendanceGenerator {
  readonly #context: BuilderContext;
  /** Days with their workers: nobody is at two sites on a day. */
  readonly #chosen = new Set<string>();

  constructor(context: BuilderContext) {
    this.#context = context;
  }

  /** Adds a working day: workers come in the morning and leave in the afternoon; some visits are closed by hand. */
  addPastDay(gate: Gate, day: number): void {
    const { calendar, random } = this.#context;
    for (const workerId of this.#chooseWorkers(gate, day, random.between(4, 8))) {
      const on = this.#createEvent(gate, workerId, this.#pickArrival(day));
      const go = this.#pickTime(day, 14, 17);
      const receivedAt = gate.isOffline && day < -1 ? calendar.instantOf(day + 1, 5 * 60 + 50) : undefined;
      if (random.chance(0.02)) this.#addVisit(gate, on, null, iso(go));
      else this.#addVisit(gate, on, this.#createEvent(gate, workerId, go, on, receivedAt));
    }
  }

  /** Adds today's sign-ons until now, and a few workers who have left. Before seven, the shift has begun in the night. */
  addMorning(gate: Gate): void {
    const { calendar, random, now } = this.#context;
    const midnight = calendar.instantOf(0, 0);
    const latest = now - 2 * MINUTE;
    for (const [index, workerId] of this.#chooseWorkers(gate, 0, random.between(7, 12)).entries()) {
      const isNight = calendar.minutes < 7 * 60;
      const nightArrival = random.between(Math.max(midnight, now - 3 * HOUR), Math.max(midnight, latest));
      const come = isNight ? nightArrival : this.#pickArrival(0);
      if (come > latest) continue;
      // The first of them were sent while the network was back for a moment; the others are not here yet.
      if (gate.isOffline && index >= 4) {
        if (index < 7 && now - come > HOUR) this.#addPendingSignOff(gate, workerId, come);
        continue;
      }
      const receivedAt = gate.isOffline ? Math.max(come, latest - 10 * MINUTE) : undefined;
      const on = this.#createEvent(gate, workerId, come, null, receivedAt);
      const go = come + random.between(2, 9) * HOUR;
      const mayLeave = random.chance(calendar.minutes >= 15 * 60 ? 0.5 : 0.15);
      const hasLeft = !gate.isOffline && go < latest && mayLeave;
      this.#addVisit(gate, on, hasLeft ? this.#createEvent(gate, workerId, go, on) : null);
    }
  }

  /** Adds a sign-off that overtook its sign-on, which the gate has not sent yet. */
  #addPendingSignOff(gate: Gate, workerId: string, come: number): void {
    const { random, now } = this.#context;
    const go = random.between(come + 30 * MINUTE, now - 20 * MINUTE);
    const off = this.#createEvent(gate, workerId, go, this.#createEvent(gate, workerId, come), now - 12 * MINUTE);
    this.#addEvent(gate, off, 'PENDING_SIGN_ON', null);
  }

  /** Adds two conflicts about the last working day: one visit was closed by hand, the other ended at another gate. */
  addConflicts([first, second]: [Gate, Gate]): void {
    const { calendar } = this.#context;
    const day = [-1, -2, -3].find((day) => calendar.isWeekday(day))!;
    const at = (hours: number, minutes: number) => calendar.instantOf(day, hours * 60 + minutes);
    const closed = this.#findWorkers(first, day).at(-1)!;
    const closedOn = this.#createEvent(first, closed, at(6, 12));
    this.#addVisit(first, closedOn, null, iso(at(15, 0)));
    this.#addConflict(first, this.#createEvent(first, closed, at(16, 41), closedOn), 'ATTENDANCE_CLOSED', 3);
    const ended = this.#findWorkers(second, day).at(-1)!;
    const endedOn = this.#createEvent(second, ended, at(6, 25));
    this.#addVisit(second, endedOn, this.#createEvent(second, ended, at(15, 2), endedOn));
    const otherGate = { ...second, deviceId: 'turnstile-9' };
    this.#addConflict(second, this.#createEvent(otherGate, ended, at(16, 30), endedOn), 'ALREADY_SIGNED_OFF', 1);
  }

  /** Returns the workers who may enter on a day. */
  #findWorkers({ owner }: Gate, day: number): string[] {
    const { calendar, rows } = this.#context;
    const [begin, end] = [iso(calendar.instantOf(day, 0)), iso(calendar.instantOf(day + 1, 0))];
    return rows
      .of(SiteAccess)
      .filter(({ projectId, grantedAt }) => projectId === owner.projectId && grantedAt < begin)
      .filter(({ revokedAt }) => revokedAt === null || revokedAt > end)
      .map(({ workerId }) => workerId);
  }

  #chooseWorkers(gate: Gate, day: number, count: number): string[] {
    const free = this.#findWorkers(gate, day).filter((id) => !this.#chosen.has(`${day} ${id}`));
    const workers = this.#context.random.sample(free, count);
    for (const id of workers) this.#chosen.add(`${day} ${id}`);
    return workers;
  }

  /** Most come before seven, some until nine. */
  #pickArrival = (day: number): number =>
    this.#context.random.chance(0.8) ? this.#pickTime(day, 6, 7) : this.#pickTime(day, 7, 9);

  #pickTime(day: number, firstHour: number, lastHour: number): number {
    const { random, calendar } = this.#context;
    return calendar.instantOf(day, 60 * firstHour) + random.between(0, (lastHour - firstHour) * 3_600) * 1_000;
  }

  /** Creates the sign-on of a worker, or the sign-off that ends `on`. */
  #createEvent(
    { deviceId }: Gate,
    workerId: string,
    at: number,
    on: ReceivedEvent | null = null,
    receivedAt = at + DELAY,
  ): ReceivedEvent {
    const sourceEventId = `${deviceId}-${this.#context.random.digits(12)}`;
    const sourceSignOnEventId = on?.event.sourceEventId ?? null;
    const type = on ? 'SIGN_OFF' : 'SIGN_ON';
    return { event: { sourceEventId, sourceSignOnEventId, workerId, type, occurredAt: iso(at), deviceId }, receivedAt };
  }

  #addVisit(gate: Gate, on: ReceivedEvent, off: ReceivedEvent | null, closedAt: string | null = null): void {
    const createdAt = iso(on.receivedAt);
    const endedAt = closedAt ?? (off && iso(off.receivedAt));
    const { id } = this.#context.add(SignOnVisit, 'signOnVisit', {
      createdAt,
      updatedAt: endedAt && endedAt > createdAt ? endedAt : createdAt,
      projectId: gate.owner.projectId,
      workerId: on.event.workerId,
      signedOnAt: on.event.occurredAt,
      signedOffAt: off?.event.occurredAt ?? null,
      closedAt,
      closedBy: closedAt && 'Site office',
    });
    for (const received of [on, off]) if (received) this.#addEvent(gate, received, 'APPLIED', id);
  }

  #addEvent(
    { owner }: Gate,
    { event, receivedAt }: ReceivedEvent,
    status: SignOnEvent['status'],
    visitId: string | null,
  ) {
    const dates = { createdAt: iso(receivedAt), updatedAt: iso(receivedAt) };
    this.#context.add(SignOnEvent, 'signOnEvent', { ...dates, ...owner, ...event, status, visitId });
  }

  /** Adds an event that was refused with the code, the last time early today. */
  #addConflict({ owner }: Gate, { event }: ReceivedEvent, code: SignOnConflict['code'], answers: number): void {
    const { calendar, now, rows } = this.#context;
    const at = iso(Math.min(now - MINUTE, calendar.instantOf(0, 5 * 60 + 55)));
    const digest = conflictDigest(event);
    rows.add(SignOnConflict, { createdAt: at, updatedAt: at, answers, digest, code, ...owner, ...event });
  }
}
