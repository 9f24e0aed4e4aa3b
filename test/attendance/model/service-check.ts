import type { FastifyInstance } from 'fastify';
import { SignOnEvent } from '../../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../../entities/sign-on-visit.entity.ts';
import { InvalidInputError } from '../../../src/domain/access/invalid-input-error.ts';
import { archiveVisit, closeVisit } from '../../../src/domain/attendance/manual-changes.ts';
import { createGateFixture, sendEvent } from '../../support/attendance.ts';
import { OPERATOR } from '../../support/audit.ts';
import type { Service } from '../../support/harness.ts';
import { ALPHABET } from './alphabet.ts';
import {
  type Answer,
  type Code,
  EMPTY,
  type ModelEvent,
  type ModelState,
  respond,
  type Step,
} from './reference-model.ts';
import { type Reached, toText } from './search.ts';
import { toInstant } from './table-machine.ts';

/** Runs at the same time. */
const CONCURRENCY = 16;

const { workers } = createGateFixture();
const WORKER_IDS: Record<string, string> = { worker1: workers.active[0]!, worker2: workers.active[1]! };

/** Runs so far: the ids of a run's events begin with its number. */
let runs = 0;

/** Two instances of the service over one PostgreSQL, compared with the model. */
export class ServiceCheck {
  readonly #service: Service;
  readonly #instances: readonly FastifyInstance[];
  readonly #token: string;
  steps = 0;

  constructor(service: Service, instances: readonly FastifyInstance[], token: string) {
    this.#service = service;
    this.#instances = instances;
    this.#token = token;
  }

  /** Performs the run of each state, step by step on the instances in turn. Returns how the service differs from the model. */
  compareRuns(states: readonly Reached[]): Promise<string[]> {
    return inParallel(states, async ({ run: names, state }) => {
      const run = ++runs;
      let expected = EMPTY;
      for (const [index, name] of names.entries()) {
        const [answer, next] = respond(expected, ALPHABET.get(name)!);
        const given = await this.#perform(run, ALPHABET.get(name)!, index);
        if (given !== answer) return [`${names.join(' → ')}: ${given} in place of ${answer}`];
        expected = next;
      }
      const stored = await this.#readState(run);
      return toText(stored) === toText(state) ? [] : [`${names.join(' → ')}: stored ${toText(stored)}`];
    });
  }

  /** Performs each pair of steps after each state, both at once on two instances: the result must be that of one of the two orders. */
  comparePairs(states: readonly Reached[]): Promise<string[]> {
    const names = [...ALPHABET.keys()];
    const pairs = names.flatMap((one, index) => names.slice(index).map((other) => [one, other] as const));
    const cases = states.flatMap(({ run }) => pairs.map((pair) => [run, pair] as const));
    return inParallel(cases, async ([before, pair]) => {
      const run = ++runs;
      let state = EMPTY;
      for (const name of before) {
        [, state] = respond(state, ALPHABET.get(name)!);
        await this.#perform(run, ALPHABET.get(name)!, 0);
      }
      const steps = pair.map((name) => ALPHABET.get(name)!);
      const answers = await Promise.all(steps.map((step, index) => this.#perform(run, step, index)));
      const stored = toText(await this.#readState(run));
      const [forth, back] = [runBoth(state, steps), runBoth(state, steps.toReversed())];
      const isForth = forth.text === stored && forth.answers.join() === answers.join();
      const isBack = back.text === stored && back.answers.join() === answers.toReversed().join();
      return isForth || isBack
        ? []
        : [`${before.join(' → ')} → ${pair.join(' with ')}: ${answers.join(' and ')}; ${stored}`];
    });
  }

  async #perform(run: number, step: Step, instance: number): Promise<Answer> {
    this.steps++;
    // The order of receipt is that of the clock.
    this.#service.clock.advance(1);
    if ('event' in step) {
      const event = toGateEvent(run, step.event);
      const { status, body } = await sendEvent(this.#instances[instance % 2]!, this.#token, event);
      return `${status} ${body.code ?? body.data?.status}`;
    }
    const isClosing = 'close' in step;
    const em = this.#service.databases.au1.fork();
    const signOn = await em.findOne(SignOnEvent, { sourceEventId: `${run}-${isClosing ? step.close : step.archive}` });
    if (!signOn?.visitId) return 'no visit';
    const context = { database: this.#service.databases.au1, clock: this.#service.clock, source: OPERATOR };
    try {
      if (isClosing) await closeVisit(context, { visitId: signOn.visitId, by: 'Robin' });
      else await archiveVisit(context, signOn.visitId);
      return 'done';
    } catch (error) {
      if (error instanceof InvalidInputError) return 'refused';
      throw error;
    }
  }

  /** Returns what is stored of a run, as a state of the model. */
  async #readState(run: number): Promise<ModelState> {
    const em = this.#service.databases.au1.fork();
    const prefix = `${run}-`;
    const rows = await em.find(
      SignOnEvent,
      { sourceEventId: { $like: `${prefix}%` } },
      { orderBy: { createdAt: 'asc', id: 'asc' } },
    );
    const visitIds = rows.flatMap(({ type, visitId }) => (type === 'SIGN_ON' && visitId ? [visitId] : []));
    const visits = await em.find(SignOnVisit, { id: { $in: visitIds } });
    const state: ModelState = { events: {}, visits: {} };
    for (const row of rows) {
      const id = row.sourceEventId.slice(prefix.length);
      const event: ModelEvent = {
        id,
        type: row.type as ModelEvent['type'],
        worker: row.workerId === WORKER_IDS.worker1 ? 'worker1' : 'worker2',
        names: row.sourceSignOnEventId?.slice(prefix.length) ?? null,
        at: toMinute(row.occurredAt),
      };
      state.events[id] = { event, status: row.status as 'APPLIED', code: row.rejection as Code | null };
      const visit = row.type === 'SIGN_ON' && visits.find((each) => each.id === row.visitId);
      if (!visit) continue;
      const { signedOffAt, closedAt, archivedAt } = visit;
      state.visits[id] = {
        signedOffAt: signedOffAt === null ? null : toMinute(signedOffAt),
        isClosed: closedAt !== null,
        isArchived: archivedAt !== null,
      };
    }
    return state;
  }
}

const toMinute = (instant: string) => (Date.parse(instant) - Date.parse(toInstant(0))) / 60_000;

const toGateEvent = (run: number, { id, type, worker, names, at }: ModelEvent) => ({
  sourceEventId: `${run}-${id}`,
  sourceSignOnEventId: names === null ? null : `${run}-${names}`,
  workerId: WORKER_IDS[worker]!,
  type,
  occurredAt: toInstant(at),
});

function runBoth(state: ModelState, steps: Step[]) {
  const answers: Answer[] = [];
  let next = state;
  for (const step of steps) {
    const [answer, after] = respond(next, step);
    answers.push(answer);
    next = after;
  }
  return { answers, text: toText(next) };
}

/** Runs the work for every item, some at the same time. Returns the first findings. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<string[]>): Promise<string[]> {
  const findings: string[] = [];
  const remaining = items.values();
  const next = async () => {
    for (const item of remaining) findings.push(...(await work(item)));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, next));
  return findings.slice(0, 5);
}
