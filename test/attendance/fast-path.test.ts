import type { EntityManager } from '@mikro-orm/postgresql';
import { beforeAll, expect, it } from 'vitest';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { newId } from '../../schema/ids.ts';
import {
  type Decision,
  decide,
  type EventPayload,
  type StoredEvent,
} from '../../src/domain/attendance/decision-table.ts';
import { recordSignOns, recordSlowPath } from '../../src/domain/attendance/record-event.ts';
import { ApiError } from '../../src/shared/errors.ts';
import { createGateFixture } from '../support/attendance.ts';
import { useService } from '../support/harness.ts';

/*
 * The statement of the fast path, which only sign-ons take, repeats conditions of the decision table in SQL. These tests store every
 * combination of facts, record an event with either path, and compare the result with the decision of the table.
 */

const STORED = ['absent', 'same payload', 'other payload', 'pending', 'rejected'] as const;
const SIGN_ONS = ['none', 'itself', 'absent', 'sign-off', 'same worker', 'other worker'] as const;
const ENDS = ['signedOffAt', 'closedAt', 'archivedAt'] as const;
const SUBSETS_OF_ENDS = Array.from({ length: 8 }, (_, bits) => ENDS.filter((_, bit) => bits & (1 << bit)));
const ACCESS = ['granted', 'no site access', 'project of another builder'] as const;
const SIGNED_ON_AT = '2026-05-20T21:00:00.000Z';
const BEFORE_SIGN_ON = '2026-05-20T20:00:00.000Z';
const AFTER_SIGN_ON = '2026-05-21T05:30:00.000Z';

interface Combination {
  type: 'SIGN_ON' | 'SIGN_OFF';
  /** The event with the same identity. */
  stored: (typeof STORED)[number];
  /** The event that a sign-off names as its sign-on. */
  signOn: (typeof SIGN_ONS)[number];
  /** How the visit of that sign-on has ended. */
  ends: readonly (typeof ENDS)[number][];
  /** Whether a sign-off waits for the event. */
  hasWaiting: boolean;
  occurredAt: string;
  access: (typeof ACCESS)[number];
}

/** Every combination; those that cannot occur, or that repeat another one, are left out. */
function* combinations(): Generator<Combination> {
  for (const type of ['SIGN_ON', 'SIGN_OFF'] as const)
    for (const stored of type === 'SIGN_ON' ? STORED.slice(0, 3) : STORED)
      for (const signOn of type === 'SIGN_ON' ? (['none'] as const) : SIGN_ONS)
        for (const ends of signOn.endsWith('worker') ? SUBSETS_OF_ENDS : [[]])
          for (const hasWaiting of [false, true])
            for (const occurredAt of signOn === 'same worker' ? [AFTER_SIGN_ON, BEFORE_SIGN_ON] : [AFTER_SIGN_ON])
              for (const access of stored === 'absent' ? ACCESS : (['granted'] as const))
                yield { type, stored, signOn, ends, hasWaiting, occurredAt, access };
}

const service = useService();
let integratorId: string;
let otherBuilderId: string;

beforeAll(async () => {
  const em = service.databases.au1.fork();
  ({ integratorId } = (await em.findOneOrFail(OAuthClient, service.findDemoClient('A').clientId)) as {
    integratorId: string;
  });
  const [other] = await em.execute('select id from builder where id <> ? limit 1', [createGateFixture().builderId]);
  otherBuilderId = other!.id;
});

const { builderId, projectId, workers } = createGateFixture();
const [worker, colleague] = workers.active as [string, string];

/** Stores the facts of a combination, with `prefix` in the ids of its events. */
class StoredCombination {
  readonly event: EventPayload;
  readonly #em: EntityManager = service.databases.au1.fork();
  readonly #now = service.clock.now();
  readonly #owner;

  private constructor(
    readonly facts: Combination,
    readonly prefix: string,
  ) {
    const { type, signOn, occurredAt, access } = facts;
    const names = { none: null, itself: `${prefix}-event` } as Record<string, string | null>;
    const sourceSignOnEventId = signOn in names ? names[signOn]! : `${prefix}-on`;
    const workerId = access === 'no site access' ? workers.none[0]! : worker;
    this.event = { sourceEventId: `${prefix}-event`, sourceSignOnEventId, workerId, type, occurredAt, deviceId: null };
    const owner = access === 'project of another builder' ? otherBuilderId : builderId;
    this.#owner = { integratorId, builderId: owner, projectId };
  }

  /** Returns the combination as the input of `recordEvent`, with the decision of the table. */
  static async create(facts: Combination, prefix: string) {
    const stored = new StoredCombination(facts, prefix);
    return { combination: stored, received: stored.received, decision: await stored.#store() };
  }

  get received() {
    return { owner: this.#owner, event: this.event, now: this.#now };
  }

  async #store(): Promise<Decision> {
    const stored = await this.#storeSameIdentity();
    const visit = { signedOffAt: null, closedAt: null, archivedAt: null };
    for (const end of this.facts.ends) Object.assign(visit, { [end]: AFTER_SIGN_ON });
    const signOn = this.facts.signOn === 'itself' ? stored : await this.#storeSignOn(visit);
    if (this.facts.hasWaiting) {
      const names = { sourceEventId: `${this.prefix}-waiting`, sourceSignOnEventId: this.event.sourceEventId };
      await this.#insert({ ...this.event, ...names, type: 'SIGN_OFF' }, { status: 'PENDING_SIGN_ON' });
    }
    return decide({ event: this.event, stored, signOn, visit: signOn && visit });
  }

  async #storeSameIdentity(): Promise<StoredEvent | null> {
    const { stored } = this.facts;
    if (stored === 'absent') return null;
    if (stored === 'pending') return this.#insert(this.event, { status: 'PENDING_SIGN_ON' });
    if (stored === 'rejected') return this.#insert(this.event, { status: 'REJECTED', rejection: 'WORKER_MISMATCH' });
    return this.#insert({ ...this.event, deviceId: stored === 'same payload' ? null : 'turnstile' });
  }

  async #storeSignOn(visit: object): Promise<EventPayload | null> {
    const event = { ...this.event, sourceEventId: `${this.prefix}-on`, occurredAt: SIGNED_ON_AT };
    switch (this.facts.signOn) {
      case 'sign-off':
        return this.#insert({ ...event, sourceSignOnEventId: `${this.prefix}-unknown` });
      case 'same worker':
      case 'other worker': {
        const workerId = this.facts.signOn === 'same worker' ? event.workerId : colleague;
        const { integratorId: _, ...site } = this.#owner;
        const row = { id: newId('signOnVisit', this.#now), ...site, ...visit, workerId, signedOnAt: SIGNED_ON_AT };
        await this.#em.insert(SignOnVisit, { ...row, ...this.#times } as never);
        return this.#insert({ ...event, workerId, type: 'SIGN_ON', sourceSignOnEventId: null }, { visitId: row.id });
      }
      default:
        return null;
    }
  }

  async #insert(payload: EventPayload, more: Partial<StoredEvent> = {}): Promise<StoredEvent> {
    const id = newId('signOnEvent', this.#now);
    const row = { ...payload, id, status: 'APPLIED' as const, rejection: null, visitId: null, ...more };
    await this.#em.insert(SignOnEvent, { ...row, ...this.#owner, ...this.#times } as never);
    return row;
  }

  get #times() {
    const at = new Date(this.#now).toISOString();
    return { createdAt: at, updatedAt: at };
  }

  /** The stored events and their visits, without generated ids and the prefix. */
  async rows(): Promise<unknown> {
    const rows = await this.#em.execute(
      `select e.source_event_id, e.source_sign_on_event_id, e.worker_id, e.type, e.occurred_at, e.device_id, e.status,
         e.rejection, v.worker_id as visitor, v.signed_on_at, v.signed_off_at, v.closed_at, v.archived_at, v.anomaly
       from sign_on_event e left join sign_on_visit v on v.id = e.visit_id where e.source_event_id like ? order by 1`,
      [`${this.prefix}-%`],
    );
    return JSON.parse(JSON.stringify(rows).replaceAll(`${this.prefix}-`, ''));
  }
}

it('the fast path records what the slow path records, or nothing (ATT-22)', async () => {
  const database = service.databases.au1;
  let recordedFast = 0;
  for (const [index, facts] of [...combinations()].filter(({ type }) => type === 'SIGN_ON').entries()) {
    const fast = await StoredCombination.create(facts, `fast-${index}`);
    const before = await fast.combination.rows();
    const { received } = fast;
    const recorded = await database.write(
      async (transaction) => (await recordSignOns(transaction, [received])).get(received) ?? null,
    );
    const rows = await fast.combination.rows();
    if (facts.access !== 'granted' || facts.hasWaiting || fast.decision.outcome !== 'CREATED') {
      expect({ facts, recorded, rows }).toEqual({ facts, recorded: null, rows: before });
      continue;
    }
    recordedFast++;
    const slow = await StoredCombination.create(facts, `slow-${index}`);
    const { id, visitId, ...result } = await database.write((transaction) =>
      recordSlowPath(transaction, slow.received),
    );
    expect({ facts, recorded }).toMatchObject({ facts, recorded: result });
    expect(result).toEqual(fast.decision);
    expect([typeof recorded!.id, typeof recorded!.visitId]).toEqual([typeof id, typeof visitId]);
    expect({ facts, rows }).toEqual({ facts, rows: await slow.combination.rows() });
  }
  expect(recordedFast).toBe(1);
});

it('the slow path gives the result of the decision table, all of whose results occur (ATT-22)', async () => {
  const outcomes = new Set<string>();
  for (const [index, facts] of [...combinations()].entries()) {
    if (facts.access !== 'granted') continue;
    const { received, decision } = await StoredCombination.create(facts, `table-${index}`);
    const expected = decision.outcome === 'CONFLICT' ? decision.code : `${decision.outcome} ${decision.event}`;
    outcomes.add(expected);
    const actual = await service.databases.au1
      .write((transaction) => recordSlowPath(transaction, received))
      .then(({ outcome, event }) => `${outcome} ${event}`)
      .catch((error) => (error instanceof ApiError ? error.code : Promise.reject(error)));
    expect({ facts, result: actual }).toEqual({ facts, result: expected });
  }
  expect([...outcomes].sort()).toEqual([
    ...['ACCEPTED PENDING_SIGN_ON', 'ALREADY_SIGNED_OFF', 'ATTENDANCE_CLOSED', 'CREATED APPLIED', 'EVENT_MISMATCH'],
    ...['REPLAYED APPLIED', 'REPLAYED PENDING_SIGN_ON', 'SIGN_ON_REQUIRED', 'WORKER_MISMATCH'],
  ]);
});
