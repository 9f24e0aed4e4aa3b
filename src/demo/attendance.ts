import { conflictDigest, SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import type { BuilderContext } from './builder-context.ts';
import { HOUR, iso, MINUTE } from './local-calendar.ts';

/** Days of history, eight weeks. */
const DAYS = 56;
const SITES = 5;
/** Milliseconds from an event to its receipt, unless the gate was offline. */
const DELAY = 1_200;

/** The gate of a project. */
interface Gate {
  context: BuilderContext;
  owner: { integratorId: string; projectId: string; deviceId: string };
  accesses: SiteAccess[];
  /** Whether it loses its network each afternoon: it then sends its sign-offs on the next morning. */
  isOffline: boolean;
}

/** An event of a gate, which is received at `createdAt`. */
type GateEvent = ReturnType<typeof createEvent>;

/** Adds eight weeks of attendance, and today's, with some workers on site; none without an integrator. */
export function addAttendance(context: BuilderContext): void {
  const { integratorId, random, calendar, rows } = context;
  if (integratorId === null) return;
  const sites = context.runningProjects.slice(0, SITES).map(({ id }) => id);
  const accesses = random.sample(rows.of(SiteAccess)).filter(({ projectId }) => sites.includes(projectId));
  // One site for each worker: nobody is at two sites.
  const workers = [...new Map(accesses.map((access) => [access.workerId, access])).values()];
  const gates = sites.map((id, index): Gate => {
    const owner = { integratorId, projectId: id, deviceId: `turnstile-${random.between(1, 4)}` };
    return { context, owner, accesses: workers.filter(({ projectId }) => projectId === id), isOffline: index === 1 };
  });
  const days = Array.from({ length: DAYS }, (_, index) => index - DAYS).filter(calendar.isWeekday);
  for (const gate of gates) {
    for (const day of days) addPastDay(gate, day);
    addToday(gate);
  }
  addConflict(gates[0]!, days.at(-1)!, 'ATTENDANCE_CLOSED');
  addConflict(gates[1]!, days.at(-1)!, 'ALREADY_SIGNED_OFF');
}

/** Adds a working day: workers come in the morning and leave in the afternoon; some visits are closed by hand. */
function addPastDay(gate: Gate, day: number): void {
  const { calendar, random } = gate.context;
  const pickTime = (first: number, last: number) =>
    calendar.instantOf(day, 60 * first) + random.between(0, last * HOUR);
  for (const workerId of random.sample(findWorkers(gate, day), random.between(4, 8))) {
    const on = createEvent(gate, workerId, pickTime(6, random.chance(0.8) ? 1 : 3));
    const left = pickTime(14, 3);
    const receivedAt = gate.isOffline && day < -1 ? calendar.instantOf(day + 1, 5 * 60 + 50) : left + DELAY;
    if (random.chance(0.02)) addVisit(gate, on, null, iso(left));
    else addVisit(gate, on, createEvent(gate, workerId, left, on, receivedAt));
  }
}

/** Adds the sign-ons of the last hours of today, and a few workers who have left. */
function addToday(gate: Gate): void {
  const { context, isOffline } = gate;
  const { calendar, random, now } = context;
  const latest = now - 2 * MINUTE;
  const earliest = Math.min(latest, Math.max(calendar.instantOf(0, 0), now - 5 * HOUR));
  for (const [index, workerId] of random.sample(findWorkers(gate, 0), random.between(7, 12)).entries()) {
    const come = random.between(earliest, latest);
    // The first sign-ons were sent while the network was back for a moment; of others, sign-offs have overtaken them.
    if (isOffline && index >= 4) {
      if (index >= 7 || now - earliest < HOUR) continue;
      const on = createEvent(gate, workerId, earliest);
      const off = createEvent(gate, workerId, random.between(earliest + 30 * MINUTE, latest), on, latest);
      context.add(SignOnEvent, 'signOnEvent', { ...off, status: 'PENDING_SIGN_ON', visitId: null });
      continue;
    }
    const on = createEvent(gate, workerId, come, null, isOffline ? Math.max(come, now - 12 * MINUTE) : come + DELAY);
    const hasLeft = !isOffline && latest - come > 2 * HOUR && random.chance(0.3);
    addVisit(gate, on, hasLeft ? createEvent(gate, workerId, random.between(come + HOUR, latest), on) : null);
  }
}

/** Adds a visit of the day, and a sign-off after its end that was refused, the last time early today. */
function addConflict(gate: Gate, day: number, code: 'ATTENDANCE_CLOSED' | 'ALREADY_SIGNED_OFF'): void {
  const { calendar, now, rows, builder } = gate.context;
  const at = (hours: number, minutes: number) => calendar.instantOf(day, hours * 60 + minutes);
  const workerId = findWorkers(gate, day).at(-1)!;
  const on = createEvent(gate, workerId, at(6, 12));
  if (code === 'ATTENDANCE_CLOSED') addVisit(gate, on, null, iso(at(15, 0)));
  else addVisit(gate, on, createEvent(gate, workerId, at(15, 2), on));
  const off = { ...createEvent(gate, workerId, at(16, 41), on), deviceId: 'turnstile-9' };
  const createdAt = iso(Math.min(now - MINUTE, calendar.instantOf(0, 5 * 60 + 55)));
  const refused = { createdAt, updatedAt: createdAt, digest: conflictDigest(off), code, answers: 2 };
  rows.add(SignOnConflict, { builderId: builder.id, ...off, ...refused });
}

/** Returns the workers who may enter on a day. */
function findWorkers({ context: { calendar }, accesses }: Gate, day: number): string[] {
  const [begin, end] = [iso(calendar.instantOf(day, 0)), iso(calendar.instantOf(day + 1, 0))];
  return accesses
    .filter(({ grantedAt, revokedAt }) => grantedAt < begin && (revokedAt === null || revokedAt > end))
    .map(({ workerId }) => workerId);
}

/** Creates the sign-on of a worker, or the sign-off that ends `on`. */
function createEvent(
  { context, owner }: Gate,
  workerId: string,
  at: number,
  on: { sourceEventId: string } | null = null,
  receivedAt = at + DELAY,
) {
  return {
    ...owner,
    createdAt: iso(receivedAt),
    updatedAt: iso(receivedAt),
    sourceEventId: `${owner.deviceId}-${context.random.digits(12)}`,
    sourceSignOnEventId: on?.sourceEventId ?? null,
    workerId,
    type: on ? ('SIGN_OFF' as const) : ('SIGN_ON' as const),
    occurredAt: iso(at),
  };
}

function addVisit({ context, owner }: Gate, on: GateEvent, off: GateEvent | null, closedAt: string | null = null) {
  const { id: visitId } = context.add(SignOnVisit, 'signOnVisit', {
    createdAt: on.createdAt,
    updatedAt: closedAt ?? off?.createdAt ?? on.createdAt,
    projectId: owner.projectId,
    workerId: on.workerId,
    signedOnAt: on.occurredAt,
    signedOffAt: off?.occurredAt ?? null,
    closedAt,
    closedBy: closedAt && 'Site office',
  });
  for (const event of off ? [on, off] : [on])
    context.add(SignOnEvent, 'signOnEvent', { ...event, status: 'APPLIED', visitId });
}
