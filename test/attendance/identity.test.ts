import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aSignOff, createGateFixture, readAttendance, sendEvent } from '../support/attendance.ts';
import { decisionOf, GateHarness } from '../support/gate-harness.ts';
import { addProject } from '../support/rows.ts';

let gateHarness: GateHarness;

beforeAll(async () => {
  gateHarness = await GateHarness.start();
});

afterAll(() => gateHarness.service.stop());

describe('the identity of an event', () => {
  it('is scoped to the integrator: another integrator may use the same id on the project (ATT-10)', async () => {
    const other = await gateHarness.service.tokenOf('C');
    const { on } = await gateHarness.beginVisit();
    const foreign = await sendEvent(gateHarness.service.app, other, { ...on, workerId: gateHarness.otherWorker });
    expect(decisionOf(foreign)).toEqual([201, 'APPLIED', false]);
    expect(
      decisionOf(
        await sendEvent(gateHarness.service.app, other, aSignOff({ ...on, workerId: gateHarness.otherWorker })),
      ),
    ).toEqual([201, 'APPLIED', false]);
    expect(decisionOf(await gateHarness.post(aSignOff(on)))).toEqual([201, 'APPLIED', false]);
  });

  it('is scoped to the project: a sign-off waits for a sign-on of its own project (ATT-10)', async () => {
    const { on } = await gateHarness.beginVisit();
    const { builderId } = createGateFixture();
    const em = gateHarness.service.databases.au1.fork();
    const elsewhere = await addProject(gateHarness.service, builderId);
    await em.execute(
      `insert into site_access (builder_id, worker_id, project_id, granted_at) values (?, ?, ?, now()) on conflict do nothing`,
      [builderId, gateHarness.worker, elsewhere],
    );
    const url = `/builders/${builderId}/projects/${elsewhere}/sign-on-events`;
    expect(decisionOf(await gateHarness.post(aSignOff(on), url))).toEqual([202, 'PENDING_SIGN_ON', false]);
    expect(decisionOf(await gateHarness.post(on, url))).toEqual([201, 'APPLIED', false]);
  });
});

describe('the conflicts', () => {
  it('are stored with the event, once per distinct request (ATT-28)', async () => {
    const { on } = await gateHarness.beginVisit();
    const sent = { ...on, deviceId: 'turnstile 9' };
    for (let times = 0; times < 3; times++) await gateHarness.post(sent);
    await gateHarness.post({ ...sent, occurredAt: '2026-05-20T21:00:00.000+00:00' });
    const { conflicts } = await readAttendance(gateHarness.service);
    const kept = conflicts.filter(({ sourceEventId }) => sourceEventId === on.sourceEventId);
    expect(kept).toEqual([
      expect.objectContaining({
        code: 'EVENT_MISMATCH',
        answers: 4,
        workerId: gateHarness.worker,
        deviceId: 'turnstile 9',
        type: 'SIGN_ON',
        occurredAt: '2026-05-20T21:00:00.000Z',
      }),
    ]);
  });
});
