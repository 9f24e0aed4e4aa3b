import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aSignOff, aSignOn } from '../support/attendance.ts';
import { decisionOf, GateHarness } from '../support/gate-harness.ts';

let gateHarness: GateHarness;

beforeAll(async () => {
  gateHarness = await GateHarness.start();
});

afterAll(() => gateHarness.service.stop());

describe('Sign-off arrives before its sign-on: 202', () => {
  it('is stored with a null visit id, and a replay returns its current status (ATT-18)', async () => {
    const on = aSignOn(gateHarness.worker);
    const off = aSignOff(on);
    const first = await gateHarness.post(off);
    expect(first.status).toBe(202);
    expect(first.body.data).toEqual({
      id: expect.stringMatching(/^saevt_/),
      sourceEventId: off.sourceEventId,
      status: 'PENDING_SIGN_ON',
      signOnId: null,
      duplicate: false,
    });
    const waiting = await gateHarness.post(off);
    expect(waiting).toEqual({ status: 200, body: { data: { ...first.body.data, duplicate: true } } });

    const begun = await gateHarness.post(on);
    expect(decisionOf(begun)).toEqual([201, 'APPLIED', false]);
    const applied = await gateHarness.post(off);
    expect(decisionOf(applied)).toEqual([200, 'APPLIED', true]);
    expect(applied.body.data).toMatchObject({ id: first.body.data.id, signOnId: begun.body.data.signOnId });
    expect(await gateHarness.findVisit(begun.body.data.signOnId)).toMatchObject({
      signedOffAt: '2026-05-21T05:30:00.000Z',
    });
  });

  it('flags the visit when it is earlier than its sign-on (ATT-17)', async () => {
    const on = aSignOn(gateHarness.worker);
    await gateHarness.post(aSignOff(on, { occurredAt: '2026-05-20T20:00:00Z' }));
    const { body } = await gateHarness.post(on);
    expect(await gateHarness.findVisit(body.data.signOnId)).toMatchObject({ anomaly: 'SIGN_OFF_BEFORE_SIGN_ON' });
  });

  // ATT-19
  it('is stored as rejected if it conflicts with the sign-on; its replay is then 409 with the reason', async () => {
    const on = aSignOn(gateHarness.worker);
    const off = aSignOff(on, { workerId: gateHarness.otherWorker });
    await gateHarness.post(off);
    const begun = await gateHarness.post(on);
    expect(decisionOf(begun)).toEqual([201, 'APPLIED', false]);
    await gateHarness.expectConflict(off, 'WORKER_MISMATCH');
    expect(await gateHarness.findVisit(begun.body.data.signOnId)).toMatchObject({ signedOffAt: null });
    expect(decisionOf(await gateHarness.post(aSignOff(on)))).toEqual([201, 'APPLIED', false]);
  });

  it('the first received of several for one sign-on is applied, the others are rejected (ATT-20)', async () => {
    const on = aSignOn(gateHarness.worker);
    const foreign = aSignOff(on, { workerId: gateHarness.otherWorker });
    const offs = Array.from({ length: 5 }, (_, index) =>
      aSignOff(on, { occurredAt: `2026-05-21T05:3${9 - index}:00Z` }),
    );
    for (const off of [foreign, ...offs])
      expect(decisionOf(await gateHarness.post(off))).toEqual([202, 'PENDING_SIGN_ON', false]);
    const begun = await gateHarness.post(on);
    expect(await gateHarness.findVisit(begun.body.data.signOnId)).toMatchObject({
      signedOffAt: '2026-05-21T05:39:00.000Z',
    });
    const [first, ...others] = offs;
    expect(decisionOf(await gateHarness.post(first!))).toEqual([200, 'APPLIED', true]);
    for (const off of others) await gateHarness.expectConflict(off, 'ALREADY_SIGNED_OFF');
    await gateHarness.expectConflict(foreign, 'WORKER_MISMATCH');
  });

  it('is rejected when the event that it names is received as a sign-off (ATT-23)', async () => {
    const { on } = await gateHarness.beginVisit();
    const named = aSignOff(on);
    const off = aSignOff(named);
    expect(decisionOf(await gateHarness.post(off))).toEqual([202, 'PENDING_SIGN_ON', false]);
    expect(decisionOf(await gateHarness.post(named))).toEqual([201, 'APPLIED', false]);
    await gateHarness.expectConflict(off, 'SIGN_ON_REQUIRED');
  });
});
