import type { Project } from '../../entities/project.entity.ts';
import { BASE, DAY, HOUR, iso, MINUTE } from './dates.ts';
import { Gate } from './gate.ts';
import type { GeneratorContext } from './generator-context.ts';
import type { Random } from './random.ts';

/** Days of attendance before the base date. */
const DAYS = 14;
/** Maximum workers per gate and day. */
const MAX_WORKERS = 8;

/** Adds sign-on events and visits of the last days on running projects; none without an integrator. */
export function addAttendance(context: GeneratorContext, projects: Project[], integratorId: string | null): void {
  if (integratorId === null) return;
  const random = context.random('attendance');
  for (const project of projects.filter(({ status }) => status === 'IN_PROGRESS')) {
    const gate = new Gate(context, random, project, integratorId);
    for (let day = -DAYS; day < 0; day++) addWorkday(gate, random, BASE + day * DAY);
    addAnomalies(gate);
  }
}

/** Adds a day: workers sign on in the morning and off about eight hours later; some sign-offs are missing. */
function addWorkday(gate: Gate, random: Random, midnight: number): void {
  for (const workerId of random.sample(gate.findWorkers(midnight), MAX_WORKERS)) {
    if (random.chance(0.3)) continue;
    const come = midnight + 6 * HOUR + random.between(0, 90 * MINUTE);
    const go = come + 8 * HOUR + random.between(0, 90 * MINUTE);
    const on = gate.createEvent(workerId, 'SIGN_ON', come);
    if (!random.chance(0.04)) gate.addVisit(on, gate.createEvent(workerId, 'SIGN_OFF', go, on));
    else gate.addVisit(on, null, random.chance(0.5) ? iso(go) : null);
  }
}

/** Adds one of each anomaly that needs manual review. */
function addAnomalies(gate: Gate): void {
  const [workerId, colleague] = gate.findWorkers(BASE - DAY);
  if (!workerId || !colleague) return;
  const at = BASE - DAY + 6 * HOUR;
  const lost = gate.createEvent(workerId, 'SIGN_ON', at);
  gate.addEvent(gate.createEvent(workerId, 'SIGN_OFF', at + 8 * HOUR, lost), 'PENDING_SIGN_ON', null);
  const on = gate.createEvent(workerId, 'SIGN_ON', at - DAY);
  gate.addVisit(on, gate.createEvent(workerId, 'SIGN_OFF', at - DAY - MINUTE, on));
  gate.addEvent(gate.createEvent(colleague, 'SIGN_OFF', at - DAY + HOUR, on), 'REJECTED', null);
  gate.addConflict({ ...on, deviceId: 'turnstile-9' }, 'EVENT_MISMATCH', 2, iso(at));
}
