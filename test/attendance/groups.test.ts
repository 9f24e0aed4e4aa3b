import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import type { EventPayload } from '../../src/domain/attendance/decision-table.ts';
import { recordEvent } from '../../src/domain/attendance/record-event.ts';
import { attendanceOf, gate, send, signOn } from '../support/attendance.ts';
import { type Service, startService } from '../support/harness.ts';

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startService();
  token = await service.as('A');
});

afterAll(() => service.stop());

const [worker] = gate().workers.active as [string];
const stranger = gate().workers.none[0]!;

/** Records sign-ons in one tick, and returns the status or the error code of each. All but the first two share a transaction. */
async function recordAll(events: ReturnType<typeof signOn>[]) {
  const database = service.databases.au1;
  const { clientId } = service.demo('A');
  const { integratorId } = await database.fork().findOneOrFail(OAuthClient, clientId);
  const owner = { integratorId: integratorId!, builderId: gate().builderId, projectId: gate().projectId };
  const now = service.clock.now();
  const payloads = events.map((event) => ({ ...event, sourceSignOnEventId: null }) as EventPayload);
  const results = await Promise.allSettled(payloads.map((event) => recordEvent(database, owner, event, now)));
  return results.map((result) => (result.status === 'fulfilled' ? result.value.status : result.reason.code));
}

describe('sign-ons at once, which share transactions', () => {
  it('each begin a visit of their own (ATT-15)', async () => {
    const events = Array.from({ length: 40 }, () => signOn(worker));
    const answers = await Promise.all(events.map((event) => send(service.app, token, event)));
    expect(answers.map(({ status }) => status)).toEqual(events.map(() => 201));
    const { visits, events: stored } = await attendanceOf(service);
    const visitIds = answers.map(({ body }) => body.data.signOnId);
    expect(new Set(visitIds).size).toBe(events.length);
    expect(visits.filter(({ id }) => visitIds.includes(id))).toHaveLength(events.length);
    for (const { body } of answers) {
      const { id, sourceEventId, signOnId: visitId } = body.data;
      expect(stored.find((event) => event.id === id)).toMatchObject({ sourceEventId, visitId, workerId: worker });
    }
  });

  it('are decided by themselves where one is no new sign-on of a worker with access (ATT-7, ATT-9, ATT-11, ATT-13)', async () => {
    const known = signOn(worker);
    await send(service.app, token, known);
    const path = `/builders/${gate().builderId}/projects/proj_none/sign-on-events`;
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => send(service.app, token, signOn(worker))),
      send(service.app, token, known),
      send(service.app, token, { ...known, deviceId: 'another gate' }),
      send(service.app, token, signOn(stranger)),
      send(service.app, token, signOn(worker), path),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 201), 200, 409, 403, 404]);
  });

  it('are 201 for the first with an id, and 409 for a later one with other data (ATT-13)', async () => {
    const sent = signOn(worker);
    const events = [signOn(worker), signOn(worker), sent, { ...sent, deviceId: 'another gate' }];
    expect(await recordAll(events)).toEqual([201, 201, 201, 'EVENT_MISMATCH']);
  });

  it('are recorded although PostgreSQL rejects a value of another one', async () => {
    const events = Array.from({ length: 10 }, (_, index) => {
      return signOn(worker, { deviceId: index === 7 ? 'gate \0' : 'gate' });
    });
    expect(await recordAll(events)).toEqual(events.map((_, index) => (index === 7 ? '22021' : 201)));
  });
});
