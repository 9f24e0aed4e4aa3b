import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../harness.ts';
import { addWorkers, attendanceOf, type GateEvent, gate, gatePath } from '../support/attendance.ts';
import { randomOf, shuffled } from '../support/shuffle.ts';

const EVENTS = 10_000;
const WORKERS = 500;
const DUPLICATES = 0.2;
const CONNECTIONS = 32;
const DAY = 86_400_000;
const FIRST_DAY = Date.parse('2026-04-01T00:00:00.000Z');

let service: Service;
let instances: string[];

beforeAll(async () => {
  service = await startService();
  const listen = (app: FastifyInstance) => app.listen({ host: '127.0.0.1', port: 0 });
  instances = [await listen(service.app), await listen(await service.another())];
});

afterAll(() => service.stop());

interface Stay {
  workerId: string;
  signedOnAt: string;
  signedOffAt: string | null;
}

/** What every worker did, and the events that the gates saw of it. The last stay of every tenth worker goes on. */
function story(workers: string[]): { stays: Stay[]; events: GateEvent[] } {
  const stays: Stay[] = [];
  const events: GateEvent[] = [];
  const visits = EVENTS / 2 / workers.length;
  workers.forEach((workerId, at) => {
    for (let visit = 0; visit < visits; visit++) {
      const goesOn = at % 10 === 0 && visit === visits - 1;
      const start = FIRST_DAY + visit * DAY + at * 1_001;
      const signedOnAt = new Date(start).toISOString();
      const signedOffAt = goesOn ? null : new Date(start + 8 * 3_600_000).toISOString();
      const [on, off] = [`on-${at}-${visit}`, `off-${at}-${visit}`];
      stays.push({ workerId, signedOnAt, signedOffAt });
      events.push({ sourceEventId: on, workerId, type: 'SIGN_ON', occurredAt: signedOnAt });
      if (signedOffAt === null) continue;
      const end = { workerId, type: 'SIGN_OFF' as const, occurredAt: signedOffAt };
      events.push({ sourceEventId: off, sourceSignOnEventId: on, ...end });
    }
  });
  return { stays, events };
}

it(`ends with exactly the visits that took place, of ${EVENTS} events in random order, a fifth of them sent twice`, async () => {
  const { stays, events } = story(await addWorkers(service, WORKERS));
  const random = randomOf(20260601);
  const again = shuffled(events, random).slice(0, EVENTS * DUPLICATES);
  const queue = shuffled([...events, ...again], random);
  const token = await service.as('A');
  const answers = new Map<string, number[]>();

  const connection = async (origin: string) => {
    for (let event = queue.pop(); event; event = queue.pop()) {
      const response = await fetch(`${origin}${gatePath()}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(event),
      });
      await response.arrayBuffer();
      const statuses = answers.get(event.sourceEventId) ?? [];
      answers.set(event.sourceEventId, [...statuses, response.status]);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => connection(instances[index % 2]!)));

  const wrong = [...answers].filter(([, statuses]) => {
    const first = statuses.filter((status) => status === 201 || status === 202);
    return first.length !== 1 || statuses.some((status) => ![200, 201, 202].includes(status));
  });
  expect(wrong).toEqual([]);
  expect(answers.size).toBe(events.length);

  const { visits, events: kept, conflicts } = await attendanceOf(service);
  const ours = new Set(stays.map(({ workerId }) => workerId));
  const found = visits
    .filter(({ workerId }) => ours.has(workerId))
    .map(({ workerId, signedOnAt, signedOffAt }) => ({ workerId, signedOnAt, signedOffAt }));
  const order = (one: Stay, other: Stay) =>
    one.workerId + one.signedOnAt < other.workerId + other.signedOnAt ? -1 : 1;
  expect(found.sort(order)).toEqual(stays.sort(order));
  const ofOurs = kept.filter(({ workerId }) => ours.has(workerId));
  expect(ofOurs.length).toBe(events.length);
  expect(ofOurs.filter(({ status }) => status !== 'APPLIED')).toEqual([]);
  expect(conflicts.filter(({ workerId }) => ours.has(workerId))).toEqual([]);
  expect(gate().workers.active.length).toBeGreaterThanOrEqual(4);
}, 240_000);
