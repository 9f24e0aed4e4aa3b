import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  aSignOff,
  aSignOn,
  createGateFixture,
  endVisit,
  type GateEvent,
  readAttendance,
  sendEvent,
} from '../support/attendance.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let instances: FastifyInstance[];
let token: string;
let worker: string;

beforeAll(async () => {
  instances = [service.app, await service.startInstance()];
  token = await service.tokenOf('A');
  [worker] = createGateFixture().workers.active as [string];
});

/** Sends the events concurrently, alternating between two instances, and returns the statuses. */
const sendConcurrently = async (...events: GateEvent[]) => {
  const answers = await Promise.all(events.map((event, at) => sendEvent(instances[at % 2]!, token, event)));
  return answers.map(({ status }) => status);
};

const repeat = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

describe('concurrent events on two instances', () => {
  it('identical events: one is 201 and the rest are 200 (ATT-14)', async () => {
    for (let round = 0; round < 5; round++) {
      const statuses = await sendConcurrently(...repeat(24, aSignOn(worker)));
      expect(statuses.sort()).toEqual([...repeat(23, 200), 201]);
    }
  });

  it('identical sign-offs before their sign-on: one is 202 and the rest are 200 (ATT-14)', async () => {
    const statuses = await sendConcurrently(...repeat(24, aSignOff(aSignOn(worker))));
    expect(statuses.sort()).toEqual([...repeat(23, 200), 202]);
  });

  it('a sign-on and its sign-off are both applied in the end (ATT-21)', async () => {
    for (let round = 0; round < 15; round++) {
      const on = aSignOn(worker);
      const off = aSignOff(on);
      const [begun, ended] = round % 2 ? await sendConcurrently(on, off) : (await sendConcurrently(off, on)).reverse();
      expect(begun).toBe(201);
      expect([201, 202]).toContain(ended);
      expect((await sendConcurrently(on, off)).sort()).toEqual([200, 200]);
      const { events, visits } = await readAttendance(service);
      const pair = events.filter(({ sourceEventId }) => [on.sourceEventId, off.sourceEventId].includes(sourceEventId));
      expect(pair.map(({ status }) => status)).toEqual(['APPLIED', 'APPLIED']);
      expect(pair[0]!.visitId).toBe(pair[1]!.visitId);
      expect(visits.find(({ id }) => id === pair[0]!.visitId)!.signedOffAt).not.toBeNull();
    }
  });

  // ATT-25
  it('exactly one of many distinct sign-offs for a visit is applied, before and after its sign-on', async () => {
    for (const early of [false, true]) {
      const on = aSignOn(worker);
      if (!early) await sendConcurrently(on);
      const offs = Array.from({ length: 12 }, (_, index) =>
        aSignOff(on, { occurredAt: `2026-05-21T05:${10 + index}:00Z` }),
      );
      const statuses = await sendConcurrently(...offs.slice(0, 6), on, ...offs.slice(6));
      expect(statuses.every((status) => [200, 201, 202, 409].includes(status))).toBe(true);
      const after = await sendConcurrently(on, ...offs);
      expect(after.sort()).toEqual([200, 200, ...repeat(11, 409)]);
    }
  });

  it('two events that name each other do not deadlock', async () => {
    for (let round = 0; round < 8; round++) {
      const one = aSignOff(aSignOn(worker));
      const other = aSignOff(one, { sourceEventId: one.sourceSignOnEventId! });
      const statuses = await sendConcurrently(one, other, one, other, one, other);
      expect(statuses.every((status) => [200, 202, 409].includes(status))).toBe(true);
    }
  });

  it('different data under one id: one is stored, the others are 409 (ATT-13)', async () => {
    const event = aSignOn(worker);
    const variants = Array.from({ length: 10 }, (_, index) => ({ ...event, deviceId: `turnstile ${index}` }));
    expect((await sendConcurrently(...variants)).sort()).toEqual([201, ...repeat(9, 409)]);
  });

  it('a sign-off does not overwrite a concurrent manual end of the visit (ATT-26)', async () => {
    for (let round = 0; round < 8; round++) {
      const on = aSignOn(worker);
      const { body } = await sendEvent(service.app, token, on);
      const id = body.data.signOnId;
      const [[status]] = await Promise.all([sendConcurrently(aSignOff(on)), endVisit(service, id, 'closed_at')]);
      const visit = (await readAttendance(service)).visits.find((row) => row.id === id)!;
      // The first of the two wins: the sign-off is applied, or it is 409.
      expect(status).toBe(visit.signedOffAt ? 201 : 409);
    }
  });
});
