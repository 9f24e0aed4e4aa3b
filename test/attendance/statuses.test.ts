import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { aSignOff, aSignOn, createGateFixture, endVisit, sendEvent } from '../support/attendance.ts';
import { decisionOf, GateHarness } from '../support/gate-harness.ts';

let gateHarness: GateHarness;

beforeAll(async () => {
  gateHarness = await GateHarness.start();
});

afterAll(() => gateHarness.service.stop());

describe('New applied event: 201', () => {
  it('begins a visit with a sign-on (ATT-15)', async () => {
    const event = aSignOn(gateHarness.worker, { deviceId: 'turnstile 4' });
    const { status, body } = await gateHarness.post(event);
    expect(status).toBe(201);
    expect(body).toEqual({
      data: {
        id: expect.stringMatching(/^saevt_[a-z][a-z0-9]+$/),
        sourceEventId: event.sourceEventId,
        status: 'APPLIED',
        signOnId: expect.stringMatching(/^signon_[a-z][a-z0-9]+$/),
        duplicate: false,
      },
    });
    expect(await gateHarness.findVisit(body.data.signOnId)).toMatchObject({
      workerId: gateHarness.worker,
      signedOnAt: '2026-05-20T21:00:00.000Z',
      signedOffAt: null,
    });
  });

  it('ends with a sign-off the visit that it references, and no other (ATT-16)', async () => {
    const [first, second] = [await gateHarness.beginVisit(), await gateHarness.beginVisit()];
    const { status, body } = await gateHarness.post(aSignOff(first.on));
    expect([status, body.data.status, body.data.duplicate]).toEqual([201, 'APPLIED', false]);
    expect(body.data.signOnId).toBe(first.visitId);
    expect(await gateHarness.findVisit(first.visitId)).toMatchObject({
      signedOffAt: '2026-05-21T05:30:00.000Z',
      anomaly: null,
    });
    expect(await gateHarness.findVisit(second.visitId)).toMatchObject({ signedOffAt: null });
  });

  it('accepts a sign-off earlier than its sign-on and flags the visit (ATT-17)', async () => {
    const { on, visitId } = await gateHarness.beginVisit();
    const earlier = aSignOff(on, { occurredAt: '2026-05-20T20:59:59.999Z' });
    expect(decisionOf(await gateHarness.post(earlier))).toEqual([201, 'APPLIED', false]);
    expect(await gateHarness.findVisit(visitId)).toMatchObject({ anomaly: 'SIGN_OFF_BEFORE_SIGN_ON' });
  });

  it('accepts events of a worker whose site access was revoked (ATT-8)', async () => {
    const [revoked] = createGateFixture().workers.revoked;
    expect(decisionOf(await gateHarness.post(aSignOn(revoked!)))).toEqual([201, 'APPLIED', false]);
  });

  it('leaves a revoked site access revoked (ATT-8)', async () => {
    const workerId = createGateFixture().workers.revoked[0]!;
    const { projectId } = createGateFixture();
    const accesses = () =>
      gateHarness.service.databases.au1.fork().findAll(SiteAccess, { where: { workerId, projectId } });
    const before = await accesses();
    await gateHarness.beginVisit(workerId);
    expect(before).toMatchObject([{ revokedAt: expect.any(String) }]);
    expect(await accesses()).toEqual(before);
  });

  it('accepts an event of the current time', async () => {
    const occurredAt = new Date(gateHarness.service.clock.now()).toISOString();
    expect(decisionOf(await gateHarness.post(aSignOn(gateHarness.worker, { occurredAt })))).toEqual([
      201,
      'APPLIED',
      false,
    ]);
  });
});

describe('Same ID and same payload replayed: 200', () => {
  it.each(['SIGN_ON', 'SIGN_OFF'] as const)('%s, with the same ids and the current status (ATT-11)', async (type) => {
    const { on } = await gateHarness.beginVisit();
    const event = type === 'SIGN_ON' ? aSignOn(gateHarness.worker) : aSignOff(on);
    const first = await gateHarness.post(event);
    for (let sent = 0; sent < 3; sent++) {
      const replay = await gateHarness.post(event);
      expect(replay.status).toBe(200);
      expect(replay.body.data).toEqual({ ...first.body.data, duplicate: true });
    }
  });

  it('compares instants regardless of their notation, and null like an absent field (ATT-12)', async () => {
    const event = aSignOn(gateHarness.worker, { occurredAt: '2026-05-20T21:00:00Z' });
    await gateHarness.post(event);
    for (const occurredAt of ['2026-05-20T21:00:00.000Z', '2026-05-20T21:00:00+00:00', '2026-05-20T21:00Z']) {
      const replay = await gateHarness.post({
        ...event,
        occurredAt,
        deviceId: null,
        sourceSignOnEventId: null,
        unknown: 1,
      });
      expect(decisionOf(replay)).toEqual([200, 'APPLIED', true]);
    }
  });

  it('does not depend on later changes of the visit (ATT-11)', async () => {
    const { on, visitId } = await gateHarness.beginVisit();
    const off = aSignOff(on);
    await gateHarness.post(off);
    await endVisit(gateHarness.service, visitId, 'archived_at');
    expect(decisionOf(await gateHarness.post(on))).toEqual([200, 'APPLIED', true]);
    expect(decisionOf(await gateHarness.post(off))).toEqual([200, 'APPLIED', true]);
  });

  it('also for another client of the same integrator (ACC-1, ATT-10)', async () => {
    const event = aSignOn(gateHarness.worker);
    await gateHarness.post(event);
    const other = gateHarness.service.findDemoClient('A without read:timesheets');
    const replay = await sendEvent(gateHarness.service.app, await gateHarness.service.tokenOf(other.name), event);
    expect(decisionOf(replay)).toEqual([200, 'APPLIED', true]);
  });
});

describe('Same ID, different data: 409 EVENT_MISMATCH (ATT-13)', () => {
  it.each([
    ['another worker', () => ({ workerId: gateHarness.otherWorker })],
    ['another instant', () => ({ occurredAt: '2026-05-20T21:00:00.001Z' })],
    ['a device where there was none', () => ({ deviceId: 'turnstile 4' })],
    ['another type', () => ({ type: 'SIGN_OFF' as const, sourceSignOnEventId: 'gate-0' })],
  ])('%s', async (_, change) => {
    const { on } = await gateHarness.beginVisit();
    await gateHarness.expectConflict({ ...on, ...change() }, 'EVENT_MISMATCH');
    expect(decisionOf(await gateHarness.post(on))).toEqual([200, 'APPLIED', true]);
  });

  it('another sign-on of a sign-off, applied or pending', async () => {
    const { on } = await gateHarness.beginVisit();
    const off = aSignOff(on);
    await gateHarness.post(off);
    await gateHarness.expectConflict({ ...off, sourceSignOnEventId: 'gate-0' }, 'EVENT_MISMATCH');
    const early = aSignOff(aSignOn(gateHarness.worker));
    await gateHarness.post(early);
    await gateHarness.expectConflict({ ...early, sourceSignOnEventId: on.sourceEventId }, 'EVENT_MISMATCH');
  });
});

describe('Sign-off references another worker: 409 WORKER_MISMATCH (ATT-24)', () => {
  it('and a later sign-off of the right worker is applied, even under the same id (ATT-27)', async () => {
    const { on } = await gateHarness.beginVisit();
    const off = aSignOff(on, { workerId: gateHarness.otherWorker });
    await gateHarness.expectConflict(off, 'WORKER_MISMATCH');
    expect(decisionOf(await gateHarness.post({ ...off, workerId: gateHarness.worker }))).toEqual([
      201,
      'APPLIED',
      false,
    ]);
  });
});

describe('Sign-off with no sign-on: 409 SIGN_ON_REQUIRED (ATT-23)', () => {
  it.each([
    ['that names none', () => aSignOff(aSignOn(gateHarness.worker), { sourceSignOnEventId: undefined })],
    ['that names null', () => aSignOff(aSignOn(gateHarness.worker), { sourceSignOnEventId: null })],
    [
      'that names itself',
      () => aSignOff(aSignOn(gateHarness.worker), { sourceEventId: 'gate-self', sourceSignOnEventId: 'gate-self' }),
    ],
  ])('%s', async (_, event) => {
    await gateHarness.expectConflict(event(), 'SIGN_ON_REQUIRED');
  });

  it('that names a sign-off, applied or pending', async () => {
    const { on } = await gateHarness.beginVisit();
    const off = aSignOff(on);
    await gateHarness.post(off);
    await gateHarness.expectConflict(aSignOff(off), 'SIGN_ON_REQUIRED');
    const early = aSignOff(aSignOn(gateHarness.worker));
    await gateHarness.post(early);
    await gateHarness.expectConflict(aSignOff(early), 'SIGN_ON_REQUIRED');
  });
});

describe('Second distinct sign-off for same visit: 409 ALREADY_SIGNED_OFF (ATT-25)', () => {
  it('and the first sign-off remains', async () => {
    const { on, visitId } = await gateHarness.beginVisit();
    await gateHarness.post(aSignOff(on));
    await gateHarness.expectConflict(aSignOff(on, { occurredAt: '2026-05-21T06:00:00Z' }), 'ALREADY_SIGNED_OFF');
    expect(await gateHarness.findVisit(visitId)).toMatchObject({ signedOffAt: '2026-05-21T05:30:00.000Z' });
  });
});

describe('Attendance record already manually closed or archived: 409 ATTENDANCE_CLOSED (ATT-26)', () => {
  it.each(['closed_at', 'archived_at'] as const)('%s', async (column) => {
    const { on, visitId } = await gateHarness.beginVisit();
    await endVisit(gateHarness.service, visitId, column);
    await gateHarness.expectConflict(aSignOff(on), 'ATTENDANCE_CLOSED');
    expect(decisionOf(await gateHarness.post(on))).toEqual([200, 'APPLIED', true]);
  });
});

describe('Several conflicts at once: 409 with the code of the first that applies', () => {
  it('EVENT_MISMATCH, then WORKER_MISMATCH, ALREADY_SIGNED_OFF and ATTENDANCE_CLOSED (ATT-22)', async () => {
    const { on, visitId } = await gateHarness.beginVisit();
    const off = aSignOff(on);
    await gateHarness.post(off);
    await endVisit(gateHarness.service, visitId, 'archived_at');
    await gateHarness.expectConflict({ ...off, workerId: gateHarness.otherWorker }, 'EVENT_MISMATCH');
    await gateHarness.expectConflict(aSignOff(on, { workerId: gateHarness.otherWorker }), 'WORKER_MISMATCH');
    await gateHarness.expectConflict(aSignOff(on), 'ALREADY_SIGNED_OFF');
  });

  it('SIGN_ON_REQUIRED before WORKER_MISMATCH (ATT-22)', async () => {
    const { on } = await gateHarness.beginVisit();
    const off = aSignOff(on);
    await gateHarness.post(off);
    const ofSignOff = aSignOff(on, { sourceSignOnEventId: off.sourceEventId, workerId: gateHarness.otherWorker });
    await gateHarness.expectConflict(ofSignOff, 'SIGN_ON_REQUIRED');
  });
});
