import type { Project } from '../../entities/project.entity.ts';
import { conflictDigest, SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { BASE, iso } from './dates.ts';
import type { Random } from './random.ts';
import type { Scene } from './scene.ts';

/** Days before the base date on which gates were at work. */
const DAYS = 14;
/** Workers that a gate sees in a day, at most. */
const MOST = 8;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What gates saw on the running projects in the last days; nothing where no integrator runs one. */
export function addAttendance(scene: Scene, projects: Project[], integratorId: string | null): void {
  if (integratorId === null) return;
  const random = scene.random('attendance');
  for (const project of projects.filter(({ status }) => status === 'IN_PROGRESS')) {
    const gate = new Gate(scene, random, project, integratorId);
    for (let day = -DAYS; day < 0; day++) gate.work(BASE + day * DAY);
    gate.disagree();
  }
}

type Event = Pick<
  SignOnEvent,
  'sourceEventId' | 'sourceSignOnEventId' | 'workerId' | 'type' | 'occurredAt' | 'deviceId'
>;

/** The gate of one project. */
class Gate {
  readonly #scene: Scene;
  readonly #random: Random;
  readonly #owner: Pick<SignOnEvent, 'integratorId' | 'builderId' | 'projectId'>;
  readonly #deviceId: string;

  constructor(scene: Scene, random: Random, { id: projectId, builderId }: Project, integratorId: string) {
    this.#scene = scene;
    this.#random = random;
    this.#owner = { integratorId, builderId, projectId };
    this.#deviceId = `turnstile-${random.between(1, 4)}`;
  }

  /** A day of work: people come in the morning and go some eight hours later; now and then one goes unseen. */
  work(midnight: number): void {
    for (const workerId of this.#random.some(this.#workersAt(midnight), MOST)) {
      if (this.#random.chance(0.3)) continue;
      const come = midnight + 6 * HOUR + this.#random.between(0, 90 * MINUTE);
      const go = come + 8 * HOUR + this.#random.between(0, 90 * MINUTE);
      const on = this.#seen(workerId, 'SIGN_ON', come);
      if (!this.#random.chance(0.04)) this.#visit(on, this.#seen(workerId, 'SIGN_OFF', go, on));
      else this.#visit(on, null, this.#random.chance(0.5) ? iso(go) : null);
    }
  }

  /** One of each that people have to look at. */
  disagree(): void {
    const [workerId, colleague] = this.#workersAt(BASE - DAY);
    if (!workerId || !colleague) return;
    const at = BASE - DAY + 6 * HOUR;
    const lost = this.#seen(workerId, 'SIGN_ON', at);
    this.#keep(this.#seen(workerId, 'SIGN_OFF', at + 8 * HOUR, lost), 'PENDING_SIGN_ON', null);
    const on = this.#seen(workerId, 'SIGN_ON', at - DAY);
    const backwards = this.#seen(workerId, 'SIGN_OFF', at - DAY - MINUTE, on);
    this.#visit(on, backwards);
    const rejected = this.#seen(colleague, 'SIGN_OFF', at - DAY + HOUR, on);
    this.#keep(rejected, 'REJECTED', null);
    const again = { ...on, deviceId: 'turnstile-9' };
    const stamps = { createdAt: iso(at), updatedAt: iso(at), answers: 2 };
    const kept = { digest: conflictDigest(again), code: 'EVENT_MISMATCH' as const };
    this.#scene.rows.add(SignOnConflict, { ...stamps, ...kept, ...this.#owner, ...again });
  }

  #workersAt(midnight: number): string[] {
    const { projectId } = this.#owner;
    const until = iso(midnight + DAY);
    return this.#scene.rows
      .of(SiteAccess)
      .filter((access) => access.projectId === projectId && access.grantedAt < iso(midnight))
      .filter(({ revokedAt }) => revokedAt === null || revokedAt > until)
      .map(({ workerId }) => workerId);
  }

  #seen(workerId: string, type: Event['type'], at: number, on: Event | null = null): Event {
    const { sourceEventId: sourceSignOnEventId } = on ?? { sourceEventId: null };
    const sourceEventId = `${this.#deviceId}-${this.#random.digits(12)}`;
    return { sourceEventId, sourceSignOnEventId, workerId, type, occurredAt: iso(at), deviceId: this.#deviceId };
  }

  #visit(on: Event, off: Event | null, closedAt: string | null = null): void {
    const createdAt = received(on);
    const { builderId, projectId } = this.#owner;
    const signedOffAt = off?.occurredAt ?? null;
    const endedAt = closedAt ?? (off && received(off));
    const id = this.#random.id('signOnVisit', createdAt);
    this.#scene.rows.add(SignOnVisit, {
      ...{ id, createdAt, updatedAt: endedAt && endedAt > createdAt ? endedAt : createdAt },
      ...{ builderId, projectId, workerId: on.workerId, signedOnAt: on.occurredAt, signedOffAt },
      ...{ closedAt, closedBy: closedAt && 'Site office', archivedAt: null },
      anomaly: signedOffAt !== null && signedOffAt < on.occurredAt ? 'SIGN_OFF_BEFORE_SIGN_ON' : null,
    });
    this.#keep(on, 'APPLIED', id);
    if (off) this.#keep(off, 'APPLIED', id);
  }

  #keep(event: Event, status: SignOnEvent['status'], visitId: string | null): void {
    const createdAt = received(event);
    this.#scene.rows.add(SignOnEvent, {
      ...{ id: this.#random.id('signOnEvent', createdAt), createdAt, updatedAt: createdAt },
      ...{ ...this.#owner, ...event, status, visitId },
      rejection: status === 'REJECTED' ? 'WORKER_MISMATCH' : null,
    });
  }
}

/** The network takes its time. */
const received = ({ occurredAt }: Event) => iso(Date.parse(occurredAt) + 1_200);
