import type { Project } from '../../entities/project.entity.ts';
import { conflictDigest, SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { DAY, iso } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import type { Random } from './random.ts';

/** Milliseconds from an event to its receipt, unless the gate was offline. */
const DELAY = 1_200;

type GateEvent = Pick<
  SignOnEvent,
  'sourceEventId' | 'sourceSignOnEventId' | 'workerId' | 'type' | 'occurredAt' | 'deviceId'
>;

/** Adds events and visits of one project's gate. */
export class Gate {
  readonly #context: GeneratorContext;
  readonly #random: Random;
  readonly #owner: Pick<SignOnEvent, 'integratorId' | 'builderId' | 'projectId'>;
  readonly #deviceId: string;
  /** Receipt of events that the gate sent later, by their id. */
  readonly #receivedAt = new Map<string, number>();

  constructor(context: GeneratorContext, random: Random, { id: projectId, builderId }: Project, integratorId: string) {
    this.#context = context;
    this.#random = random;
    this.#owner = { integratorId, builderId, projectId };
    this.#deviceId = `turnstile-${random.between(1, 4)}`;
  }

  /** Returns the workers who may enter on the day that begins at midnight. */
  findWorkers(midnight: number): string[] {
    const { projectId } = this.#owner;
    const until = iso(midnight + DAY);
    return this.#context.rows
      .of(SiteAccess)
      .filter((access) => access.projectId === projectId && access.grantedAt < iso(midnight))
      .filter(({ revokedAt }) => revokedAt === null || revokedAt > until)
      .map(({ workerId }) => workerId);
  }

  /** @param receivedAt when the service received it; default: at once */
  createEvent(
    workerId: string,
    type: GateEvent['type'],
    at: number,
    on: GateEvent | null = null,
    receivedAt?: number,
  ): GateEvent {
    const { sourceEventId: sourceSignOnEventId } = on ?? { sourceEventId: null };
    const sourceEventId = `${this.#deviceId}-${this.#random.digits(12)}`;
    if (receivedAt !== undefined) this.#receivedAt.set(sourceEventId, receivedAt);
    return { sourceEventId, sourceSignOnEventId, workerId, type, occurredAt: iso(at), deviceId: this.#deviceId };
  }

  addVisit(on: GateEvent, off: GateEvent | null, closedAt: string | null = null): void {
    const createdAt = this.#received(on);
    const { builderId, projectId } = this.#owner;
    const signedOffAt = off?.occurredAt ?? null;
    const endedAt = closedAt ?? (off && this.#received(off));
    const id = this.#random.id('signOnVisit', createdAt);
    this.#context.rows.add(SignOnVisit, {
      ...{ id, createdAt, updatedAt: endedAt && endedAt > createdAt ? endedAt : createdAt },
      ...{ builderId, projectId, workerId: on.workerId, signedOnAt: on.occurredAt, signedOffAt },
      ...{ closedAt, closedBy: closedAt && 'Site office', archivedAt: null },
      anomaly: signedOffAt !== null && signedOffAt < on.occurredAt ? 'SIGN_OFF_BEFORE_SIGN_ON' : null,
    });
    this.addEvent(on, 'APPLIED', id);
    if (off) this.addEvent(off, 'APPLIED', id);
  }

  addEvent(event: GateEvent, status: SignOnEvent['status'], visitId: string | null): void {
    const createdAt = this.#received(event);
    this.#context.rows.add(SignOnEvent, {
      ...{ id: this.#random.id('signOnEvent', createdAt), createdAt, updatedAt: createdAt },
      ...{ ...this.#owner, ...event, status, visitId },
      rejection: status === 'REJECTED' ? 'WORKER_MISMATCH' : null,
    });
  }

  /** Adds an event that was refused with the code. */
  addConflict(event: GateEvent, code: SignOnConflict['code'], answers: number, answeredAt: string): void {
    const stamps = { createdAt: answeredAt, updatedAt: answeredAt, answers };
    this.#context.rows.add(SignOnConflict, {
      ...stamps,
      digest: conflictDigest(event),
      code,
      ...this.#owner,
      ...event,
    });
  }

  #received({ sourceEventId, occurredAt }: GateEvent): string {
    return iso(this.#receivedAt.get(sourceEventId) ?? Date.parse(occurredAt) + DELAY);
  }
}
