import type { Project } from '../../entities/project.entity.ts';
import { conflictDigest, SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { BASE, iso } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import type { Random } from './random.ts';

/** Days of attendance before the base date. */
const DAYS = 14;
/** Maximum workers per gate and day. */
const MAX_WORKERS = 8;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Adds sign-on events and visits of the last days on running projects; none without an integrator. */
export function addAttendance(context: GeneratorContext, projects: Project[], integratorId: string | null): void {
  if (integratorId === null) return;
  const random = context.random('attendance');
  for (const project of projects.filter(({ status }) => status === 'IN_PROGRESS')) {
    const gate = new Gate(context, random, project, integratorId);
    for (let day = -DAYS; day < 0; day++) gate.addWorkday(BASE + day * DAY);
    gate.addAnomalies();
  }
}

type Event = Pick<
  SignOnEvent,
  'sourceEventId' | 'sourceSignOnEventId' | 'workerId' | 'type' | 'occurredAt' | 'deviceId'
>;

/** Generates the events of one project's gate. */
class Gate {
  readonly #context: GeneratorContext;
  readonly #random: Random;
  readonly #owner: Pick<SignOnEvent, 'integratorId' | 'builderId' | 'projectId'>;
  readonly #deviceId: string;

  constructor(context: GeneratorContext, random: Random, { id: projectId, builderId }: Project, integratorId: string) {
    this.#context = context;
    this.#random = random;
    this.#owner = { integratorId, builderId, projectId };
    this.#deviceId = `turnstile-${random.between(1, 4)}`;
  }

  /** Adds a day: workers sign on in the morning and off about eight hours later; some sign-offs are missing. */
  addWorkday(midnight: number): void {
    for (const workerId of this.#random.sample(this.#findWorkers(midnight), MAX_WORKERS)) {
      if (this.#random.chance(0.3)) continue;
      const come = midnight + 6 * HOUR + this.#random.between(0, 90 * MINUTE);
      const go = come + 8 * HOUR + this.#random.between(0, 90 * MINUTE);
      const on = this.#createEvent(workerId, 'SIGN_ON', come);
      if (!this.#random.chance(0.04)) this.#addVisit(on, this.#createEvent(workerId, 'SIGN_OFF', go, on));
      else this.#addVisit(on, null, this.#random.chance(0.5) ? iso(go) : null);
    }
  }

  /** Adds one of each anomaly that needs manual review. */
  addAnomalies(): void {
    const [workerId, colleague] = this.#findWorkers(BASE - DAY);
    if (!workerId || !colleague) return;
    const at = BASE - DAY + 6 * HOUR;
    const lost = this.#createEvent(workerId, 'SIGN_ON', at);
    this.#addEvent(this.#createEvent(workerId, 'SIGN_OFF', at + 8 * HOUR, lost), 'PENDING_SIGN_ON', null);
    const on = this.#createEvent(workerId, 'SIGN_ON', at - DAY);
    const backwards = this.#createEvent(workerId, 'SIGN_OFF', at - DAY - MINUTE, on);
    this.#addVisit(on, backwards);
    const rejected = this.#createEvent(colleague, 'SIGN_OFF', at - DAY + HOUR, on);
    this.#addEvent(rejected, 'REJECTED', null);
    const again = { ...on, deviceId: 'turnstile-9' };
    const pickTimestamps = { createdAt: iso(at), updatedAt: iso(at), answers: 2 };
    const kept = { digest: conflictDigest(again), code: 'EVENT_MISMATCH' as const };
    this.#context.rows.add(SignOnConflict, { ...pickTimestamps, ...kept, ...this.#owner, ...again });
  }

  #findWorkers(midnight: number): string[] {
    const { projectId } = this.#owner;
    const until = iso(midnight + DAY);
    return this.#context.rows
      .of(SiteAccess)
      .filter((access) => access.projectId === projectId && access.grantedAt < iso(midnight))
      .filter(({ revokedAt }) => revokedAt === null || revokedAt > until)
      .map(({ workerId }) => workerId);
  }

  #createEvent(workerId: string, type: Event['type'], at: number, on: Event | null = null): Event {
    const { sourceEventId: sourceSignOnEventId } = on ?? { sourceEventId: null };
    const sourceEventId = `${this.#deviceId}-${this.#random.digits(12)}`;
    return { sourceEventId, sourceSignOnEventId, workerId, type, occurredAt: iso(at), deviceId: this.#deviceId };
  }

  #addVisit(on: Event, off: Event | null, closedAt: string | null = null): void {
    const createdAt = received(on);
    const { builderId, projectId } = this.#owner;
    const signedOffAt = off?.occurredAt ?? null;
    const endedAt = closedAt ?? (off && received(off));
    const id = this.#random.id('signOnVisit', createdAt);
    this.#context.rows.add(SignOnVisit, {
      ...{ id, createdAt, updatedAt: endedAt && endedAt > createdAt ? endedAt : createdAt },
      ...{ builderId, projectId, workerId: on.workerId, signedOnAt: on.occurredAt, signedOffAt },
      ...{ closedAt, closedBy: closedAt && 'Site office', archivedAt: null },
      anomaly: signedOffAt !== null && signedOffAt < on.occurredAt ? 'SIGN_OFF_BEFORE_SIGN_ON' : null,
    });
    this.#addEvent(on, 'APPLIED', id);
    if (off) this.#addEvent(off, 'APPLIED', id);
  }

  #addEvent(event: Event, status: SignOnEvent['status'], visitId: string | null): void {
    const createdAt = received(event);
    this.#context.rows.add(SignOnEvent, {
      ...{ id: this.#random.id('signOnEvent', createdAt), createdAt, updatedAt: createdAt },
      ...{ ...this.#owner, ...event, status, visitId },
      rejection: status === 'REJECTED' ? 'WORKER_MISMATCH' : null,
    });
  }
}

/** Events are received 1.2 seconds after they occur. */
const received = ({ occurredAt }: Event) => iso(Date.parse(occurredAt) + 1_200);
