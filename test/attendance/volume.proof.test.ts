import type { FastifyInstance } from 'fastify';
import { beforeAll, expect, it } from 'vitest';
import { createGateFixture, signOnEventsPath } from '../support/attendance.ts';
import { addGateWorkers, createAttendanceScenario, findAttendanceDifferences } from '../support/attendance-scenario.ts';
import { useService } from '../support/harness.ts';
import { createRandom, shuffle } from '../support/random.ts';

const EVENTS = 4_000;
const WORKERS = 200;
const DUPLICATES = 0.2;
const CONNECTIONS = 32;

const service = useService();
let instances: string[];

beforeAll(async () => {
  const listen = (app: FastifyInstance) => app.listen({ host: '127.0.0.1', port: 0 });
  instances = [await listen(service.app), await listen(await service.startInstance())];
});

it(`ends with exactly the visits that took place, of ${EVENTS} events in random order, a fifth of them sent twice`, async () => {
  const { visits, events } = createAttendanceScenario(
    await addGateWorkers(service.databases.au1, createGateFixture(), WORKERS),
    EVENTS,
  );
  const random = createRandom(20260601);
  const again = shuffle(events, random).slice(0, EVENTS * DUPLICATES);
  const queue = shuffle([...events, ...again], random);
  const token = await service.tokenOf('A');
  const answers = new Map<string, number[]>();

  const connection = async (origin: string) => {
    for (let event = queue.pop(); event; event = queue.pop()) {
      const response = await fetch(`${origin}${signOnEventsPath()}`, {
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

  expect(await findAttendanceDifferences(service.databases.au1, visits, events)).toEqual([]);
});
