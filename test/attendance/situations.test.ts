import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../harness.ts';
import {
  type Answer,
  attendanceOf,
  endVisit,
  type GateEvent,
  gate,
  send,
  signOff,
  signOn,
} from '../support/attendance.ts';

let service: Service;
let token: string;
let worker: string;
let colleague: string;

beforeAll(async () => {
  service = await startService();
  token = await service.as('A');
  [worker, colleague] = gate().workers.active as [string, string];
});

afterAll(() => service.stop());

const post = (event: object, url?: string) => send(service.app, token, event, url);

/** 409 with the code, and again 409 when it is sent again, with nothing changed. */
async function expectConflict(event: GateEvent, code: string): Promise<void> {
  const { visits, events } = await attendanceOf(service);
  for (let sent = 0; sent < 2; sent++) {
    const { status, body } = await post(event);
    expect([status, body.code]).toEqual([409, code]);
    expect(Object.keys(body)).toEqual(['code', 'message']);
  }
  expect(await attendanceOf(service)).toMatchObject({ visits, events });
}

const data = ({ status, body }: Answer) => [status, body.data.status, body.data.duplicate];

/** A visit that has begun: its sign-on, and its id. */
async function begin(workerId = worker): Promise<{ on: GateEvent; visitId: string }> {
  const on = signOn(workerId);
  const { body } = await post(on);
  return { on, visitId: body.data.signOnId };
}

const visitOf = async (id: string) => (await attendanceOf(service)).visits.find((visit) => visit.id === id);

describe('New applied event: 201', () => {
  it('begins a visit with a sign-on', async () => {
    const event = signOn(worker, { deviceId: 'turnstile 4' });
    const { status, body } = await post(event);
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
    expect(await visitOf(body.data.signOnId)).toMatchObject({
      workerId: worker,
      signedOnAt: '2026-05-20T21:00:00.000Z',
      signedOffAt: null,
    });
  });

  it('ends with a sign-off the visit that it references, and no other', async () => {
    const [first, second] = [await begin(), await begin()];
    const { status, body } = await post(signOff(first.on));
    expect([status, body.data.status, body.data.duplicate]).toEqual([201, 'APPLIED', false]);
    expect(body.data.signOnId).toBe(first.visitId);
    expect(await visitOf(first.visitId)).toMatchObject({ signedOffAt: '2026-05-21T05:30:00.000Z', anomaly: null });
    expect(await visitOf(second.visitId)).toMatchObject({ signedOffAt: null });
  });

  it('takes a sign-off that is earlier than its sign-on, and flags the visit for people', async () => {
    const { on, visitId } = await begin();
    const earlier = signOff(on, { occurredAt: '2026-05-20T20:59:59.999Z' });
    expect(data(await post(earlier))).toEqual([201, 'APPLIED', false]);
    expect(await visitOf(visitId)).toMatchObject({ anomaly: 'SIGN_OFF_BEFORE_SIGN_ON' });
  });

  it('takes a worker whose site access was revoked', async () => {
    const [revoked] = gate().workers.revoked;
    expect(data(await post(signOn(revoked!)))).toEqual([201, 'APPLIED', false]);
  });

  it('takes an event of this very moment', async () => {
    const occurredAt = new Date(service.clock.now()).toISOString();
    expect(data(await post(signOn(worker, { occurredAt })))).toEqual([201, 'APPLIED', false]);
  });
});

describe('Same ID and same payload replayed: 200', () => {
  it.each(['SIGN_ON', 'SIGN_OFF'] as const)('%s, with the same ids and the current status', async (type) => {
    const { on } = await begin();
    const event = type === 'SIGN_ON' ? signOn(worker) : signOff(on);
    const first = await post(event);
    for (let sent = 0; sent < 3; sent++) {
      const replay = await post(event);
      expect(replay.status).toBe(200);
      expect(replay.body.data).toEqual({ ...first.body.data, duplicate: true });
    }
  });

  it('compares instants, and null with absent, not spelling', async () => {
    const event = signOn(worker, { occurredAt: '2026-05-20T21:00:00Z' });
    await post(event);
    for (const occurredAt of ['2026-05-20T21:00:00.000Z', '2026-05-20T21:00:00+00:00', '2026-05-20T21:00Z']) {
      const replay = await post({ ...event, occurredAt, deviceId: null, sourceSignOnEventId: null, unknown: 1 });
      expect(data(replay)).toEqual([200, 'APPLIED', true]);
    }
  });

  it('does not mind what has become of the visit since', async () => {
    const { on, visitId } = await begin();
    const off = signOff(on);
    await post(off);
    await endVisit(service, visitId, 'archived_at');
    expect(data(await post(on))).toEqual([200, 'APPLIED', true]);
    expect(data(await post(off))).toEqual([200, 'APPLIED', true]);
  });

  it('after another client of the integrator has sent it: credentials rotate, the identity stays', async () => {
    const event = signOn(worker);
    await post(event);
    const other = service.demo('A without read:timesheets');
    const replay = await send(service.app, await service.as(other.name), event);
    expect(data(replay)).toEqual([200, 'APPLIED', true]);
  });
});

describe('Same ID, different data: 409 EVENT_MISMATCH', () => {
  it.each([
    ['another worker', () => ({ workerId: colleague })],
    ['another instant', () => ({ occurredAt: '2026-05-20T21:00:00.001Z' })],
    ['a device where there was none', () => ({ deviceId: 'turnstile 4' })],
    ['another type', () => ({ type: 'SIGN_OFF' as const, sourceSignOnEventId: 'gate-0' })],
  ])('%s', async (_, change) => {
    const { on } = await begin();
    await expectConflict({ ...on, ...change() }, 'EVENT_MISMATCH');
    expect(data(await post(on))).toEqual([200, 'APPLIED', true]);
  });

  it('another sign-on of a sign-off, applied or pending', async () => {
    const { on } = await begin();
    const off = signOff(on);
    await post(off);
    await expectConflict({ ...off, sourceSignOnEventId: 'gate-0' }, 'EVENT_MISMATCH');
    const early = signOff(signOn(worker));
    await post(early);
    await expectConflict({ ...early, sourceSignOnEventId: on.sourceEventId }, 'EVENT_MISMATCH');
  });
});

describe('Sign-off arrives before its sign-on: 202', () => {
  it('is kept, with a null attendance id, and replays show its current status', async () => {
    const on = signOn(worker);
    const off = signOff(on);
    const first = await post(off);
    expect(first.status).toBe(202);
    expect(first.body.data).toEqual({
      id: expect.stringMatching(/^saevt_/),
      sourceEventId: off.sourceEventId,
      status: 'PENDING_SIGN_ON',
      signOnId: null,
      duplicate: false,
    });
    const waiting = await post(off);
    expect(waiting).toEqual({ status: 200, body: { data: { ...first.body.data, duplicate: true } } });

    const begun = await post(on);
    expect(data(begun)).toEqual([201, 'APPLIED', false]);
    const applied = await post(off);
    expect(data(applied)).toEqual([200, 'APPLIED', true]);
    expect(applied.body.data).toMatchObject({ id: first.body.data.id, signOnId: begun.body.data.signOnId });
    expect(await visitOf(begun.body.data.signOnId)).toMatchObject({ signedOffAt: '2026-05-21T05:30:00.000Z' });
  });

  it('flags the visit when it is earlier than its sign-on', async () => {
    const on = signOn(worker);
    await post(signOff(on, { occurredAt: '2026-05-20T20:00:00Z' }));
    const { body } = await post(on);
    expect(await visitOf(body.data.signOnId)).toMatchObject({ anomaly: 'SIGN_OFF_BEFORE_SIGN_ON' });
  });

  it('that then conflicts never blocks the sign-on; it is kept as rejected, and its replay is 409 with the reason', async () => {
    const on = signOn(worker);
    const off = signOff(on, { workerId: colleague });
    await post(off);
    const begun = await post(on);
    expect(data(begun)).toEqual([201, 'APPLIED', false]);
    await expectConflict(off, 'WORKER_MISMATCH');
    expect(await visitOf(begun.body.data.signOnId)).toMatchObject({ signedOffAt: null });
    expect(data(await post(signOff(on)))).toEqual([201, 'APPLIED', false]);
  });

  it('of several for one sign-on the first received wins, the others are rejected', async () => {
    const on = signOn(worker);
    const foreign = signOff(on, { workerId: colleague });
    const offs = Array.from({ length: 5 }, (_, index) =>
      signOff(on, { occurredAt: `2026-05-21T05:3${9 - index}:00Z` }),
    );
    for (const off of [foreign, ...offs]) expect(data(await post(off))).toEqual([202, 'PENDING_SIGN_ON', false]);
    const begun = await post(on);
    expect(await visitOf(begun.body.data.signOnId)).toMatchObject({ signedOffAt: '2026-05-21T05:39:00.000Z' });
    const [first, ...others] = offs;
    expect(data(await post(first!))).toEqual([200, 'APPLIED', true]);
    for (const off of others) await expectConflict(off, 'ALREADY_SIGNED_OFF');
    await expectConflict(foreign, 'WORKER_MISMATCH');
  });

  it('is rejected when what it names turns out to be a sign-off', async () => {
    const { on } = await begin();
    const named = signOff(on);
    const off = signOff(named);
    expect(data(await post(off))).toEqual([202, 'PENDING_SIGN_ON', false]);
    expect(data(await post(named))).toEqual([201, 'APPLIED', false]);
    await expectConflict(off, 'SIGN_ON_REQUIRED');
  });
});

describe('Sign-off references another worker: 409 WORKER_MISMATCH', () => {
  it('and the right worker can still sign off, even under the same id', async () => {
    const { on } = await begin();
    const off = signOff(on, { workerId: colleague });
    await expectConflict(off, 'WORKER_MISMATCH');
    expect(data(await post({ ...off, workerId: worker }))).toEqual([201, 'APPLIED', false]);
  });
});

describe('Sign-off with no sign-on: 409 SIGN_ON_REQUIRED', () => {
  it.each([
    ['that names none', () => signOff(signOn(worker), { sourceSignOnEventId: undefined })],
    ['that names null', () => signOff(signOn(worker), { sourceSignOnEventId: null })],
    [
      'that names itself',
      () => signOff(signOn(worker), { sourceEventId: 'gate-self', sourceSignOnEventId: 'gate-self' }),
    ],
  ])('%s', async (_, event) => {
    await expectConflict(event(), 'SIGN_ON_REQUIRED');
  });

  it('that names a sign-off, applied or pending', async () => {
    const { on } = await begin();
    const off = signOff(on);
    await post(off);
    await expectConflict(signOff(off), 'SIGN_ON_REQUIRED');
    const early = signOff(signOn(worker));
    await post(early);
    await expectConflict(signOff(early), 'SIGN_ON_REQUIRED');
  });
});

describe('Second distinct sign-off for same visit: 409 ALREADY_SIGNED_OFF', () => {
  it('and the first one stands', async () => {
    const { on, visitId } = await begin();
    await post(signOff(on));
    await expectConflict(signOff(on, { occurredAt: '2026-05-21T06:00:00Z' }), 'ALREADY_SIGNED_OFF');
    expect(await visitOf(visitId)).toMatchObject({ signedOffAt: '2026-05-21T05:30:00.000Z' });
  });
});

describe('Attendance record already manually closed or archived: 409 ATTENDANCE_CLOSED', () => {
  it.each(['closed_at', 'archived_at'] as const)('%s', async (column) => {
    const { on, visitId } = await begin();
    await endVisit(service, visitId, column);
    await expectConflict(signOff(on), 'ATTENDANCE_CLOSED');
    expect(data(await post(on))).toEqual([200, 'APPLIED', true]);
  });
});

describe('the identity of an event', () => {
  it('is scoped to the integrator: another one on the same project knows nothing of it', async () => {
    const other = await service.as('C');
    const { on } = await begin();
    const foreign = await send(service.app, other, { ...on, workerId: colleague });
    expect(data(foreign)).toEqual([201, 'APPLIED', false]);
    expect(data(await send(service.app, other, signOff({ ...on, workerId: colleague })))).toEqual([
      201,
      'APPLIED',
      false,
    ]);
    expect(data(await post(signOff(on)))).toEqual([201, 'APPLIED', false]);
  });

  it('is scoped to the project: a sign-off elsewhere waits for a sign-on there', async () => {
    const { on } = await begin();
    const { builderId } = gate();
    const em = service.databases.au1.fork();
    const [elsewhere] = (await em.execute('select id from project where builder_id = ? and id <> ? limit 1', [
      builderId,
      gate().projectId,
    ])) as [{ id: string }];
    await em.execute(
      `insert into site_access (builder_id, worker_id, project_id, granted_at) values (?, ?, ?, now()) on conflict do nothing`,
      [builderId, worker, elsewhere.id],
    );
    const url = `/builders/${builderId}/projects/${elsewhere.id}/sign-on-events`;
    expect(data(await post(signOff(on), url))).toEqual([202, 'PENDING_SIGN_ON', false]);
    expect(data(await post(on, url))).toEqual([201, 'APPLIED', false]);
  });
});

describe('the conflicts', () => {
  it('are kept with what was sent, each once however often it was answered', async () => {
    const { on } = await begin();
    const sent = { ...on, deviceId: 'turnstile 9' };
    for (let times = 0; times < 3; times++) await post(sent);
    await post({ ...sent, occurredAt: '2026-05-20T21:00:00.000+00:00' });
    const { conflicts } = await attendanceOf(service);
    const kept = conflicts.filter(({ sourceEventId }) => sourceEventId === on.sourceEventId);
    expect(kept).toEqual([
      expect.objectContaining({
        code: 'EVENT_MISMATCH',
        answers: 4,
        workerId: worker,
        deviceId: 'turnstile 9',
        type: 'SIGN_ON',
        occurredAt: '2026-05-20T21:00:00.000Z',
      }),
    ]);
  });
});
