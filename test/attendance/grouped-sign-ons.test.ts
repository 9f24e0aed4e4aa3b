import { beforeAll, describe, expect, it } from 'vitest';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import type { EventPayload } from '../../src/domain/attendance/decision-table.ts';
import { recordEvent } from '../../src/domain/attendance/record-event.ts';
import { aSignOn, createGateFixture, readAttendance, sendEvent } from '../support/attendance.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let token: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
});

const [worker] = createGateFixture().workers.active as [string];
const workerWithoutAccess = createGateFixture().workers.none[0]!;

/** Records sign-ons in one tick, and returns the status or the error code of each. All but the first two share a transaction. */
async function recordAll(events: ReturnType<typeof aSignOn>[]) {
  const database = service.databases.au1;
  const { clientId } = service.findDemoClient('A');
  const { integratorId } = await database.fork().findOneOrFail(OAuthClient, clientId);
  const owner = {
    integratorId: integratorId!,
    builderId: createGateFixture().builderId,
    projectId: createGateFixture().projectId,
  };
  const now = service.clock.now();
  const payloads = events.map((event) => ({ ...event, sourceSignOnEventId: null }) as EventPayload);
  const results = await Promise.allSettled(payloads.map((event) => recordEvent(database, owner, event, now)));
  return results.map((result) => (result.status === 'fulfilled' ? result.value.outcome : result.reason.code));
}

describe('concurrent sign-ons, which share transactions', () => {
  it('each begin their own visit (ATT-15)', async () => {
    const events = Array.from({ length: 40 }, () => aSignOn(worker));
    const answers = await Promise.all(events.map((event) => sendEvent(service.app, token, event)));
    expect(answers.map(({ status }) => status)).toEqual(events.map(() => 201));
    const { visits, events: stored } = await readAttendance(service);
    const visitIds = answers.map(({ body }) => body.data.signOnId);
    expect(new Set(visitIds).size).toBe(events.length);
    expect(visits.filter(({ id }) => visitIds.includes(id))).toHaveLength(events.length);
    for (const { body } of answers) {
      const { id, sourceEventId, signOnId: visitId } = body.data;
      expect(stored.find((event) => event.id === id)).toMatchObject({ sourceEventId, visitId, workerId: worker });
    }
  });

  it('are decided separately if one is not a new sign-on of a worker with access (ATT-7, ATT-9, ATT-11, ATT-13)', async () => {
    const known = aSignOn(worker);
    await sendEvent(service.app, token, known);
    const path = `/builders/${createGateFixture().builderId}/projects/proj_none/sign-on-events`;
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => sendEvent(service.app, token, aSignOn(worker))),
      sendEvent(service.app, token, known),
      sendEvent(service.app, token, { ...known, deviceId: 'another gate' }),
      sendEvent(service.app, token, aSignOn(workerWithoutAccess)),
      sendEvent(service.app, token, aSignOn(worker), path),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 201), 200, 409, 403, 404]);
  });

  it('are 201 for the first with an id, and 409 for a later one with other data (ATT-13)', async () => {
    const sent = aSignOn(worker);
    const events = [aSignOn(worker), aSignOn(worker), sent, { ...sent, deviceId: 'another gate' }];
    expect(await recordAll(events)).toEqual(['CREATED', 'CREATED', 'CREATED', 'EVENT_MISMATCH']);
  });

  it('are recorded although PostgreSQL rejects a value of another one', async () => {
    const events = Array.from({ length: 10 }, (_, index) => {
      return aSignOn(worker, { deviceId: index === 7 ? 'gate \0' : 'gate' });
    });
    expect(await recordAll(events)).toEqual(events.map((_, index) => (index === 7 ? '22021' : 'CREATED')));
  });
});
