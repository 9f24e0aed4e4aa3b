import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { endVisit, gate, send, signOff, signOn } from '../support/attendance.ts';
import { GateBench, outcome } from '../support/gate-bench.ts';

let gates: GateBench;

beforeAll(async () => {
  gates = await GateBench.start();
});

afterAll(() => gates.service.stop());

describe('New applied event: 201', () => {
  it('begins a visit with a sign-on (ATT-15)', async () => {
    const event = signOn(gates.worker, { deviceId: 'turnstile 4' });
    const { status, body } = await gates.post(event);
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
    expect(await gates.visit(body.data.signOnId)).toMatchObject({
      workerId: gates.worker,
      signedOnAt: '2026-05-20T21:00:00.000Z',
      signedOffAt: null,
    });
  });

  it('ends with a sign-off the visit that it references, and no other (ATT-16)', async () => {
    const [first, second] = [await gates.begin(), await gates.begin()];
    const { status, body } = await gates.post(signOff(first.on));
    expect([status, body.data.status, body.data.duplicate]).toEqual([201, 'APPLIED', false]);
    expect(body.data.signOnId).toBe(first.visitId);
    expect(await gates.visit(first.visitId)).toMatchObject({ signedOffAt: '2026-05-21T05:30:00.000Z', anomaly: null });
    expect(await gates.visit(second.visitId)).toMatchObject({ signedOffAt: null });
  });

  it('accepts a sign-off earlier than its sign-on and flags the visit (ATT-17)', async () => {
    const { on, visitId } = await gates.begin();
    const earlier = signOff(on, { occurredAt: '2026-05-20T20:59:59.999Z' });
    expect(outcome(await gates.post(earlier))).toEqual([201, 'APPLIED', false]);
    expect(await gates.visit(visitId)).toMatchObject({ anomaly: 'SIGN_OFF_BEFORE_SIGN_ON' });
  });

  it('accepts events of a worker whose site access was revoked (ATT-8)', async () => {
    const [revoked] = gate().workers.revoked;
    expect(outcome(await gates.post(signOn(revoked!)))).toEqual([201, 'APPLIED', false]);
  });

  it('leaves a revoked site access revoked (ATT-8)', async () => {
    const workerId = gate().workers.revoked[0]!;
    const { projectId } = gate();
    const accesses = () => gates.service.databases.au1.fork().findAll(SiteAccess, { where: { workerId, projectId } });
    const before = await accesses();
    await gates.begin(workerId);
    expect(before).toMatchObject([{ revokedAt: expect.any(String) }]);
    expect(await accesses()).toEqual(before);
  });

  it('accepts an event of the current time', async () => {
    const occurredAt = new Date(gates.service.clock.now()).toISOString();
    expect(outcome(await gates.post(signOn(gates.worker, { occurredAt })))).toEqual([201, 'APPLIED', false]);
  });
});

describe('Same ID and same payload replayed: 200', () => {
  it.each(['SIGN_ON', 'SIGN_OFF'] as const)('%s, with the same ids and the current status (ATT-11)', async (type) => {
    const { on } = await gates.begin();
    const event = type === 'SIGN_ON' ? signOn(gates.worker) : signOff(on);
    const first = await gates.post(event);
    for (let sent = 0; sent < 3; sent++) {
      const replay = await gates.post(event);
      expect(replay.status).toBe(200);
      expect(replay.body.data).toEqual({ ...first.body.data, duplicate: true });
    }
  });

  it('compares instants regardless of their notation, and null like an absent field (ATT-12)', async () => {
    const event = signOn(gates.worker, { occurredAt: '2026-05-20T21:00:00Z' });
    await gates.post(event);
    for (const occurredAt of ['2026-05-20T21:00:00.000Z', '2026-05-20T21:00:00+00:00', '2026-05-20T21:00Z']) {
      const replay = await gates.post({ ...event, occurredAt, deviceId: null, sourceSignOnEventId: null, unknown: 1 });
      expect(outcome(replay)).toEqual([200, 'APPLIED', true]);
    }
  });

  it('does not depend on later changes of the visit (ATT-11)', async () => {
    const { on, visitId } = await gates.begin();
    const off = signOff(on);
    await gates.post(off);
    await endVisit(gates.service, visitId, 'archived_at');
    expect(outcome(await gates.post(on))).toEqual([200, 'APPLIED', true]);
    expect(outcome(await gates.post(off))).toEqual([200, 'APPLIED', true]);
  });

  it('also for another client of the same integrator (ACC-1, ATT-10)', async () => {
    const event = signOn(gates.worker);
    await gates.post(event);
    const other = gates.service.demo('A without read:timesheets');
    const replay = await send(gates.service.app, await gates.service.as(other.name), event);
    expect(outcome(replay)).toEqual([200, 'APPLIED', true]);
  });
});

describe('Same ID, different data: 409 EVENT_MISMATCH (ATT-13)', () => {
  it.each([
    ['another worker', () => ({ workerId: gates.colleague })],
    ['another instant', () => ({ occurredAt: '2026-05-20T21:00:00.001Z' })],
    ['a device where there was none', () => ({ deviceId: 'turnstile 4' })],
    ['another type', () => ({ type: 'SIGN_OFF' as const, sourceSignOnEventId: 'gate-0' })],
  ])('%s', async (_, change) => {
    const { on } = await gates.begin();
    await gates.expectConflict({ ...on, ...change() }, 'EVENT_MISMATCH');
    expect(outcome(await gates.post(on))).toEqual([200, 'APPLIED', true]);
  });

  it('another sign-on of a sign-off, applied or pending', async () => {
    const { on } = await gates.begin();
    const off = signOff(on);
    await gates.post(off);
    await gates.expectConflict({ ...off, sourceSignOnEventId: 'gate-0' }, 'EVENT_MISMATCH');
    const early = signOff(signOn(gates.worker));
    await gates.post(early);
    await gates.expectConflict({ ...early, sourceSignOnEventId: on.sourceEventId }, 'EVENT_MISMATCH');
  });
});

describe('Sign-off references another worker: 409 WORKER_MISMATCH (ATT-24)', () => {
  it('and a later sign-off of the right worker is applied, even under the same id (ATT-27)', async () => {
    const { on } = await gates.begin();
    const off = signOff(on, { workerId: gates.colleague });
    await gates.expectConflict(off, 'WORKER_MISMATCH');
    expect(outcome(await gates.post({ ...off, workerId: gates.worker }))).toEqual([201, 'APPLIED', false]);
  });
});

describe('Sign-off with no sign-on: 409 SIGN_ON_REQUIRED (ATT-23)', () => {
  it.each([
    ['that names none', () => signOff(signOn(gates.worker), { sourceSignOnEventId: undefined })],
    ['that names null', () => signOff(signOn(gates.worker), { sourceSignOnEventId: null })],
    [
      'that names itself',
      () => signOff(signOn(gates.worker), { sourceEventId: 'gate-self', sourceSignOnEventId: 'gate-self' }),
    ],
  ])('%s', async (_, event) => {
    await gates.expectConflict(event(), 'SIGN_ON_REQUIRED');
  });

  it('that names a sign-off, applied or pending', async () => {
    const { on } = await gates.begin();
    const off = signOff(on);
    await gates.post(off);
    await gates.expectConflict(signOff(off), 'SIGN_ON_REQUIRED');
    const early = signOff(signOn(gates.worker));
    await gates.post(early);
    await gates.expectConflict(signOff(early), 'SIGN_ON_REQUIRED');
  });
});

describe('Second distinct sign-off for same visit: 409 ALREADY_SIGNED_OFF (ATT-25)', () => {
  it('and the first sign-off remains', async () => {
    const { on, visitId } = await gates.begin();
    await gates.post(signOff(on));
    await gates.expectConflict(signOff(on, { occurredAt: '2026-05-21T06:00:00Z' }), 'ALREADY_SIGNED_OFF');
    expect(await gates.visit(visitId)).toMatchObject({ signedOffAt: '2026-05-21T05:30:00.000Z' });
  });
});

describe('Attendance record already manually closed or archived: 409 ATTENDANCE_CLOSED (ATT-26)', () => {
  it.each(['closed_at', 'archived_at'] as const)('%s', async (column) => {
    const { on, visitId } = await gates.begin();
    await endVisit(gates.service, visitId, column);
    await gates.expectConflict(signOff(on), 'ATTENDANCE_CLOSED');
    expect(outcome(await gates.post(on))).toEqual([200, 'APPLIED', true]);
  });
});

describe('Several conflicts at once: 409 with the code of the first that applies', () => {
  it('EVENT_MISMATCH, then WORKER_MISMATCH, ALREADY_SIGNED_OFF and ATTENDANCE_CLOSED (ATT-22)', async () => {
    const { on, visitId } = await gates.begin();
    const off = signOff(on);
    await gates.post(off);
    await endVisit(gates.service, visitId, 'archived_at');
    await gates.expectConflict({ ...off, workerId: gates.colleague }, 'EVENT_MISMATCH');
    await gates.expectConflict(signOff(on, { workerId: gates.colleague }), 'WORKER_MISMATCH');
    await gates.expectConflict(signOff(on), 'ALREADY_SIGNED_OFF');
  });

  it('SIGN_ON_REQUIRED before WORKER_MISMATCH (ATT-22)', async () => {
    const { on } = await gates.begin();
    const off = signOff(on);
    await gates.post(off);
    const ofSignOff = signOff(on, { sourceSignOnEventId: off.sourceEventId, workerId: gates.colleague });
    await gates.expectConflict(ofSignOff, 'SIGN_ON_REQUIRED');
  });
});
