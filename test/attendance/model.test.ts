import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { beforeAll, expect, it } from 'vitest';
import { grantSiteAccess, revokeSiteAccess } from '../../src/domain/access/site-access.ts';
import { archiveVisit, closeVisit } from '../../src/domain/attendance/manual-changes.ts';
import { createGateFixture, type GateEvent, readAttendance, sendEvent } from '../support/attendance.ts';
import { OPERATOR } from '../support/audit.ts';
import { useService } from '../support/harness.ts';
import { AttendanceModel, type Visit } from './attendance-model.ts';

/** Sequences of events. `npm run proof -- attendance-model` generates more. */
const RUNS = Number(process.env.MODEL_RUNS ?? 8);
const INTEGRATORS = ['A', 'C'] as const;
const { projectId, workers } = createGateFixture();
const [WORKER_WITHOUT_ACCESS] = workers.none;

const service = useService();
let instances: FastifyInstance[];
let tokens: string[];

beforeAll(async () => {
  instances = [service.app, await service.startInstance()];
  tokens = await Promise.all(INTEGRATORS.map((name) => service.tokenOf(name)));
});

/** One independent model per integrator. */
type Model = AttendanceModel[];

/** One run of the service: the number in the ids of its events, and the ids of the returned visits. */
interface RunContext {
  run: number;
  visitIds: Map<Visit, string>;
}

const createContext = () => ({ database: service.databases.au1, clock: service.clock, source: OPERATOR });
const withRunPrefix = (event: GateEvent, run: number): GateEvent => ({
  ...event,
  sourceEventId: `run-${run}-${event.sourceEventId}`,
  ...(event.sourceSignOnEventId && { sourceSignOnEventId: `run-${run}-${event.sourceSignOnEventId}` }),
});

/** Sends an event, or concurrent copies of it, to both instances. */
class SendCommand implements fc.AsyncCommand<Model, RunContext> {
  constructor(
    readonly integrator: number,
    readonly instance: number,
    readonly event: GateEvent,
    readonly times: number,
  ) {}

  check = () => true;

  async run(model: Model, { run, visitIds }: RunContext): Promise<void> {
    const event = withRunPrefix(this.event, run);
    const token = tokens[this.integrator]!;
    const copies = Array.from({ length: this.times }, (_, copy) =>
      sendEvent(instances[(this.instance + copy) % 2]!, token, event),
    );
    const answers = await Promise.all(copies);
    const wellFormed = event.type === 'SIGN_OFF' || !event.sourceSignOnEventId;
    if (!wellFormed || event.workerId === WORKER_WITHOUT_ACCESS) {
      for (const { status } of answers) expect(status).toBe(wellFormed ? 403 : 400);
      return;
    }
    const expected = answers.map(() => model[this.integrator]!.send(event));
    const sorted = <T extends { status: number }>(list: T[]) => list.sort((one, other) => other.status - one.status);
    sorted(answers).forEach(({ status, body }, at) => {
      const { visit, ...answer } = sorted(expected)[at]!;
      const { code, data } = body;
      expect({ status, code, state: data?.status }).toEqual({ code: undefined, state: undefined, ...answer });
      if (!data) return;
      expect(data.duplicate).toBe(status === 200);
      if (visit && !visitIds.has(visit)) visitIds.set(visit, data.signOnId);
      expect(data.signOnId).toBe(visit ? visitIds.get(visit) : null);
    });
  }

  toString = () => `${INTEGRATORS[this.integrator]} ×${this.times} ${JSON.stringify(this.event)}`;
}

/** An operator closes or archives a visit. */
class EndVisitCommand implements fc.AsyncCommand<Model, RunContext> {
  constructor(
    readonly integrator: number,
    readonly at: number,
    readonly how: 'closed' | 'archived',
  ) {}

  #visit = (model: Model) => {
    const { visits } = model[this.integrator]!;
    return visits[this.at % visits.length]!;
  };

  check(model: Readonly<Model>): boolean {
    if (model[this.integrator]!.visits.length === 0) return false;
    const { off, archived } = this.#visit(model as Model);
    return this.how === 'archived' || !(off || archived);
  }

  async run(model: Model, { visitIds }: RunContext): Promise<void> {
    const visit = this.#visit(model);
    visit[this.how] = true;
    const visitId = visitIds.get(visit)!;
    await (this.how === 'closed'
      ? closeVisit(createContext(), { visitId, by: 'Robin' })
      : archiveVisit(createContext(), visitId));
  }

  toString = () => `${this.how} visit ${this.at} of ${INTEGRATORS[this.integrator]}`;
}

/** Grants or revokes site access, which must not affect events. */
class ChangeAccessCommand implements fc.AsyncCommand<Model, RunContext> {
  constructor(
    readonly workerId: string,
    readonly granted: boolean,
  ) {}

  check = () => true;

  async run(): Promise<void> {
    await (this.granted ? grantSiteAccess : revokeSiteAccess)(createContext(), { workerId: this.workerId, projectId });
  }

  toString = () => `${this.granted ? 'grant' : 'revoke'} ${this.workerId}`;
}

const WORKERS = [workers.active[0]!, workers.active[1]!, workers.revoked[0]!];

/** Valid events of a few visits: the sign-on, its sign-off and another sign-off. */
const validEvent = fc
  .tuple(fc.nat(5), fc.constantFrom('on' as const, 'off' as const, 'off' as const, 'again' as const))
  .map(
    ([visit, what]): GateEvent => ({
      sourceEventId: `${what}${visit}`,
      sourceSignOnEventId: what === 'on' ? null : `on${visit}`,
      workerId: WORKERS[visit % 3]!,
      type: what === 'on' ? 'SIGN_ON' : 'SIGN_OFF',
      occurredAt: what === 'on' ? '2026-05-20T21:00:00.000Z' : '2026-05-20T22:00:00.000Z',
      deviceId: null,
    }),
  );

/** A change that may make an event invalid or conflicting. */
const change: fc.Arbitrary<Partial<GateEvent>> = fc.oneof(
  fc.record({ workerId: fc.constantFrom(...WORKERS, WORKER_WITHOUT_ACCESS!) }),
  fc.record({ occurredAt: fc.constantFrom('2026-05-20T20:00:00.000Z', '2026-05-20T23:00:00.000Z') }),
  fc.record({ deviceId: fc.constant('turnstile') }),
  fc.record({ sourceSignOnEventId: fc.constantFrom(null, 'on0', 'on1', 'off1', 'again0', 'nowhere') }),
  fc.record({ type: fc.constantFrom('SIGN_ON' as const, 'SIGN_OFF' as const) }),
);
const changedEvent = fc.tuple(validEvent, change).map(([event, changes]): GateEvent => ({ ...event, ...changes }));
const anyEvent = fc.oneof({ weight: 3, arbitrary: validEvent }, { weight: 1, arbitrary: changedEvent });
const integrator = fc.constantFrom(0, 0, 1);
const repetitions = fc.constantFrom(1, 1, 1, 4);

const commands = fc.commands(
  [
    fc.tuple(integrator, fc.nat(1), anyEvent, repetitions).map((args) => new SendCommand(...args)),
    fc.tuple(integrator, fc.nat(1), anyEvent, repetitions).map((args) => new SendCommand(...args)),
    fc.tuple(integrator, fc.nat(1), anyEvent, repetitions).map((args) => new SendCommand(...args)),
    fc
      .tuple(integrator, fc.nat(5), fc.constantFrom('closed' as const, 'archived' as const))
      .map((args) => new EndVisitCommand(...args)),
    fc.tuple(fc.constantFrom(...WORKERS), fc.boolean()).map((args) => new ChangeAccessCommand(...args)),
  ],
  { maxCommands: 60, size: 'max' },
);

it('responds and stores like an in-memory model, for random events of two integrators on two instances (ATT-22)', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      const real: RunContext = { run: ++run, visitIds: new Map() };
      const model: Model = INTEGRATORS.map(() => new AttendanceModel());
      await fc.asyncModelRun(() => ({ model, real }), sequence);
      await compareStored(model, real);
    }),
    { numRuns: RUNS },
  );
});

async function compareStored(model: Model, { run, visitIds }: RunContext): Promise<void> {
  const { visits, events } = await readAttendance(service);
  const ours = events.filter(({ sourceEventId }) => sourceEventId.startsWith(`run-${run}-`));
  const states = model.flatMap(({ receivedEvents: all }) =>
    [...all.values()].map(({ event: { sourceEventId }, state, visit }) => ({
      sourceEventId,
      status: typeof state === 'object' ? 'REJECTED' : state,
      rejection: typeof state === 'object' ? state.rejected : null,
      visitId: visit && visitIds.get(visit)!,
    })),
  );
  const byName = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  const kept = ours.map(({ sourceEventId, status, rejection, visitId }) => ({
    sourceEventId,
    status,
    rejection,
    visitId,
  }));
  expect(kept.sort(byName)).toEqual(states.sort(byName));
  for (const { visits: all } of model) {
    for (const visit of all) {
      const row = visits.find(({ id }) => id === visitIds.get(visit))!;
      const { workerId, signedOnAt, signedOffAt, closedAt, archivedAt, anomaly } = row;
      expect({
        workerId,
        on: signedOnAt,
        off: signedOffAt,
        closed: closedAt !== null,
        archived: archivedAt !== null,
      }).toEqual(visit);
      expect(anomaly).toBe(visit.off !== null && visit.off < visit.on ? 'SIGN_OFF_BEFORE_SIGN_ON' : null);
    }
  }
  expect(new Set(ours.flatMap(({ visitId }) => visitId ?? [])).size).toBe(
    model[0]!.visits.length + model[1]!.visits.length,
  );
}
