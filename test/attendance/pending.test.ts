import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signOff, signOn } from '../support/attendance.ts';
import { GateBench, outcome } from '../support/gate-bench.ts';

let gates: GateBench;

beforeAll(async () => {
  gates = await GateBench.start();
});

afterAll(() => gates.service.stop());

describe('Sign-off arrives before its sign-on: 202', () => {
  it('is stored with a null visit id, and a replay returns its current status (ATT-18)', async () => {
    const on = signOn(gates.worker);
    const off = signOff(on);
    const first = await gates.post(off);
    expect(first.status).toBe(202);
    expect(first.body.data).toEqual({
      id: expect.stringMatching(/^saevt_/),
      sourceEventId: off.sourceEventId,
      status: 'PENDING_SIGN_ON',
      signOnId: null,
      duplicate: false,
    });
    const waiting = await gates.post(off);
    expect(waiting).toEqual({ status: 200, body: { data: { ...first.body.data, duplicate: true } } });

    const begun = await gates.post(on);
    expect(outcome(begun)).toEqual([201, 'APPLIED', false]);
    const applied = await gates.post(off);
    expect(outcome(applied)).toEqual([200, 'APPLIED', true]);
    expect(applied.body.data).toMatchObject({ id: first.body.data.id, signOnId: begun.body.data.signOnId });
    expect(await gates.visit(begun.body.data.signOnId)).toMatchObject({ signedOffAt: '2026-05-21T05:30:00.000Z' });
  });

  it('flags the visit when it is earlier than its sign-on (ATT-17)', async () => {
    const on = signOn(gates.worker);
    await gates.post(signOff(on, { occurredAt: '2026-05-20T20:00:00Z' }));
    const { body } = await gates.post(on);
    expect(await gates.visit(body.data.signOnId)).toMatchObject({ anomaly: 'SIGN_OFF_BEFORE_SIGN_ON' });
  });

  // ATT-19
  it('is stored as rejected if it conflicts with the sign-on; its replay is then 409 with the reason', async () => {
    const on = signOn(gates.worker);
    const off = signOff(on, { workerId: gates.colleague });
    await gates.post(off);
    const begun = await gates.post(on);
    expect(outcome(begun)).toEqual([201, 'APPLIED', false]);
    await gates.expectConflict(off, 'WORKER_MISMATCH');
    expect(await gates.visit(begun.body.data.signOnId)).toMatchObject({ signedOffAt: null });
    expect(outcome(await gates.post(signOff(on)))).toEqual([201, 'APPLIED', false]);
  });

  it('the first received of several for one sign-on is applied, the others are rejected (ATT-20)', async () => {
    const on = signOn(gates.worker);
    const foreign = signOff(on, { workerId: gates.colleague });
    const offs = Array.from({ length: 5 }, (_, index) =>
      signOff(on, { occurredAt: `2026-05-21T05:3${9 - index}:00Z` }),
    );
    for (const off of [foreign, ...offs])
      expect(outcome(await gates.post(off))).toEqual([202, 'PENDING_SIGN_ON', false]);
    const begun = await gates.post(on);
    expect(await gates.visit(begun.body.data.signOnId)).toMatchObject({ signedOffAt: '2026-05-21T05:39:00.000Z' });
    const [first, ...others] = offs;
    expect(outcome(await gates.post(first!))).toEqual([200, 'APPLIED', true]);
    for (const off of others) await gates.expectConflict(off, 'ALREADY_SIGNED_OFF');
    await gates.expectConflict(foreign, 'WORKER_MISMATCH');
  });

  it('is rejected when what it names turns out to be a sign-off (ATT-23)', async () => {
    const { on } = await gates.begin();
    const named = signOff(on);
    const off = signOff(named);
    expect(outcome(await gates.post(off))).toEqual([202, 'PENDING_SIGN_ON', false]);
    expect(outcome(await gates.post(named))).toEqual([201, 'APPLIED', false]);
    await gates.expectConflict(off, 'SIGN_ON_REQUIRED');
  });
});
