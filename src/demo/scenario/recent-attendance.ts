import type { Project } from '../../../entities/project.entity.ts';
import { HOUR, iso, MINUTE } from '../dates.ts';
import { Gate } from '../gate.ts';
import type { Random } from '../random.ts';
import type { Scenario } from './scenario-context.ts';

/** Days of history, eight weeks. */
const DAYS = 56;
const MAX_SITES = 5;

/** Adds eight weeks of attendance, and a morning on which some workers are on site; none without an integrator. */
export function addRecentAttendance(scenario: Scenario, projects: Project[], integratorId: string | null): void {
  if (integratorId === null) return;
  const random = scenario.context.random('recent attendance');
  const sites = projects.filter(({ status }) => status === 'IN_PROGRESS').slice(0, MAX_SITES);
  const gates = sites.map((project) => new Gate(scenario.context, random, project, integratorId));
  const workersOf = createWorkerChoice(scenario, random);
  for (const [index, gate] of gates.entries()) {
    // The second gate loses its network each afternoon.
    for (let day = -DAYS; day < 0; day++) {
      if (scenario.calendar.isWeekday(day)) {
        addPastDay(scenario, random, gate, day, workersOf(gate, day, random.between(4, 8)), index === 1);
      }
    }
    addMorning(scenario, random, gate, workersOf(gate, 0, random.between(7, 12)), index === 1);
  }
  addConflicts(scenario, gates);
}

/** Returns a function that chooses workers of a gate and day, of whom none is at another site on that day. */
function createWorkerChoice({ calendar }: Scenario, random: Random) {
  const chosen = new Set<string>();
  return (gate: Gate, day: number, count: number): string[] => {
    const free = gate.findWorkers(calendar.instantOf(day, 0)).filter((id) => !chosen.has(`${day} ${id}`));
    const workers = random.sample(free, count);
    for (const id of workers) chosen.add(`${day} ${id}`);
    return workers;
  };
}

/** Adds a working day. A gate without network sends the sign-offs of the afternoon on the next morning, in one batch. */
function addPastDay(
  { calendar }: Scenario,
  random: Random,
  gate: Gate,
  day: number,
  workers: readonly string[],
  isOffline: boolean,
): void {
  for (const workerId of workers) {
    const on = gate.createEvent(
      workerId,
      'SIGN_ON',
      calendar.instantOf(day, pickArrival(random)) + pickSeconds(random),
    );
    const go = calendar.instantOf(day, random.between(14 * 60, 17 * 60)) + pickSeconds(random);
    if (random.chance(0.02)) gate.addVisit(on, null, iso(go));
    else {
      const receivedAt = isOffline && day < -1 ? calendar.instantOf(day + 1, 5 * 60 + 50) : undefined;
      gate.addVisit(on, gate.createEvent(workerId, 'SIGN_OFF', go, on, receivedAt));
    }
  }
}

/** Minutes after midnight: most come before seven, some until nine. */
const pickArrival = (random: Random) =>
  random.chance(0.8) ? random.between(6 * 60, 7 * 60) : random.between(7 * 60, 9 * 60);

const pickSeconds = (random: Random) => random.between(0, 59) * 1_000;

/** Adds today's sign-ons until now, and a few workers who have left. Before seven in the morning, the shift has begun in the night. */
function addMorning(
  { calendar, now }: Scenario,
  random: Random,
  gate: Gate,
  workers: readonly string[],
  isOffline: boolean,
): void {
  const midnight = calendar.instantOf(0, 0);
  const isDay = calendar.minutes >= 7 * 60;
  const latest = now - 2 * MINUTE;
  for (const [index, workerId] of workers.entries()) {
    const come = isDay
      ? calendar.instantOf(0, pickArrival(random)) + pickSeconds(random)
      : random.between(Math.max(midnight, now - 3 * HOUR), Math.max(midnight, latest));
    if (come > latest) continue;
    // The first of them were sent while the network was back for a moment; the others are not here yet.
    if (isOffline && index >= 4) {
      if (index < 7 && now - come > HOUR) addPendingSignOff(gate, random, workerId, come, now);
      continue;
    }
    const on = gate.createEvent(
      workerId,
      'SIGN_ON',
      come,
      null,
      isOffline ? Math.max(come, latest - 10 * MINUTE) : undefined,
    );
    const go = come + random.between(2, 9) * HOUR;
    const hasLeft = !isOffline && go < latest && random.chance(calendar.minutes >= 15 * 60 ? 0.5 : 0.15);
    gate.addVisit(on, hasLeft ? gate.createEvent(workerId, 'SIGN_OFF', go, on) : null);
  }
}

/** Adds a sign-off that overtook its sign-on, which the gate has not sent yet. */
function addPendingSignOff(gate: Gate, random: Random, workerId: string, come: number, now: number): void {
  const lost = gate.createEvent(workerId, 'SIGN_ON', come);
  const go = random.between(come + 30 * MINUTE, now - 20 * MINUTE);
  gate.addEvent(gate.createEvent(workerId, 'SIGN_OFF', go, lost, now - 12 * MINUTE), 'PENDING_SIGN_ON', null);
}

/** Adds two conflicts about the last working day: one visit was closed by hand, the other ended at another gate. */
function addConflicts({ calendar, now }: Scenario, gates: Gate[]): void {
  let day = -1;
  while (!calendar.isWeekday(day)) day--;
  const at = (minutes: number) => calendar.instantOf(day, minutes);
  const answeredAt = iso(Math.min(now - MINUTE, calendar.instantOf(0, 5 * 60 + 55)));
  const [first, second] = gates;
  const closed = first?.findWorkers(at(0)).at(-1);
  if (closed) {
    const on = first!.createEvent(closed, 'SIGN_ON', at(6 * 60 + 12));
    first!.addVisit(on, null, iso(at(15 * 60)));
    first!.addConflict(
      first!.createEvent(closed, 'SIGN_OFF', at(16 * 60 + 41), on),
      'ATTENDANCE_CLOSED',
      3,
      answeredAt,
    );
  }
  const ended = second?.findWorkers(at(0)).at(-1);
  if (ended) {
    const on = second!.createEvent(ended, 'SIGN_ON', at(6 * 60 + 25));
    second!.addVisit(on, second!.createEvent(ended, 'SIGN_OFF', at(15 * 60 + 2), on));
    const again = { ...second!.createEvent(ended, 'SIGN_OFF', at(16 * 60 + 30), on), deviceId: 'turnstile-9' };
    second!.addConflict(again, 'ALREADY_SIGNED_OFF', 1, answeredAt);
  }
}
