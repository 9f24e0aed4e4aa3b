import { beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../entities/audit-entry.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { toLockKey } from '../../src/domain/attendance/record-event.ts';
import { createVisit, dismissSignOff } from '../../src/domain/attendance/settle-sign-off.ts';
import { aSignOff, aSignOn, createGateFixture, type GateEvent, sendEvent } from '../support/attendance.ts';
import { OPERATOR } from '../support/audit.ts';
import { useService } from '../support/harness.ts';

/* Sign-offs whose sign-on has not arrived, and what a person may decide about them (ATT-42, ATT-43). */

const service = useService();
let token: string;
const [worker, colleague] = createGateFixture().workers.active as [string, string];

beforeAll(async () => {
  token = await service.tokenOf('A');
});

const em = () => service.databases.au1.fork();
const context = (expectedUpdatedAt?: string) => ({
  database: service.databases.au1,
  clock: service.clock,
  source: OPERATOR,
  expectedUpdatedAt,
});
const send = (event: GateEvent) => sendEvent(service.app, token, event);
const findEvent = (id: string) => em().findOneOrFail(SignOnEvent, { id });
const STATED = '2026-05-20T20:45:00.000Z';

/** Sends a sign-off before its sign-on. */
async function sendEarlySignOff(on = aSignOn(worker), more: Partial<GateEvent> = {}) {
  const off = aSignOff(on, more);
  const { status, body } = await send(off);
  expect(status).toBe(202);
  return { on, off, id: body.data.id as string };
}

const dismiss = (id: string) => dismissSignOff(context(), { signOnEventId: id, reason: 'A test of the gate' });
const state = (id: string, signedOnAt = STATED) =>
  createVisit(context(), { signOnEventId: id, signedOnAt, reason: 'On the paper list' });

describe('a sign-off that is dismissed', () => {
  it('is rejected, recorded with the reason, and ends no visit when its sign-on arrives (ATT-42)', async () => {
    const { on, off, id } = await sendEarlySignOff();
    await dismiss(id);
    expect(await findEvent(id)).toMatchObject({ status: 'REJECTED', rejection: 'ATTENDANCE_CLOSED', visitId: null });
    const entry = await em().findOneOrFail(AuditEntry, { objectId: id, action: 'sign_off.dismissed' });
    expect(entry).toMatchObject({ personId: worker, valuesAfter: { reason: 'A test of the gate', workerId: worker } });
    expect(await send(off)).toMatchObject({ status: 409, body: { code: 'ATTENDANCE_CLOSED' } });
    const { status, body } = await send(on);
    expect(status).toBe(201);
    expect(await em().findOne(SignOnVisit, { id: body.data.signOnId })).toMatchObject({ signedOffAt: null });
  });
});

describe('a sign-off that a person makes a visit of', () => {
  it('ends the visit, which begins when the person states, and rejects the others that wait (ATT-43)', async () => {
    const { on, off, id } = await sendEarlySignOff();
    const second = await sendEarlySignOff(on);
    const ofColleague = await sendEarlySignOff(on, { workerId: colleague });
    const visitId = await state(id);
    expect(await em().findOne(SignOnVisit, { id: visitId })).toMatchObject({
      workerId: worker,
      signedOnAt: STATED,
      signedOffAt: new Date(off.occurredAt).toISOString(),
      closingReason: 'On the paper list',
    });
    const entry = await em().findOneOrFail(AuditEntry, { objectId: visitId, action: 'visit.created' });
    expect(entry.valuesAfter).toMatchObject({ signedOnAt: STATED, closingReason: 'On the paper list' });
    expect(await findEvent(second.id)).toMatchObject({ status: 'REJECTED', rejection: 'ALREADY_SIGNED_OFF' });
    expect(await findEvent(ofColleague.id)).toMatchObject({ status: 'REJECTED', rejection: 'WORKER_MISMATCH' });
    expect(await send(off)).toMatchObject({ status: 200, body: { data: { status: 'APPLIED', duplicate: true } } });
    expect(await send(on)).toMatchObject({ status: 409, body: { code: 'EVENT_MISMATCH' } });
    expect(await send({ ...on, occurredAt: STATED })).toMatchObject({
      status: 200,
      body: { data: { duplicate: true } },
    });
  });

  it('is made once, whether the person or the sign-on is first (ATT-21)', async () => {
    for (let attempt = 0; attempt < 10; attempt++) {
      const { on, id } = await sendEarlySignOff();
      const [stated, sent] = await Promise.allSettled([state(id), send(on)]);
      const status = sent.status === 'fulfilled' ? sent.value.status : 0;
      expect([stated.status, status]).toEqual(stated.status === 'fulfilled' ? ['fulfilled', 409] : ['rejected', 201]);
      const { visitId } = await findEvent(id);
      const events = await em().find(SignOnEvent, { visitId });
      expect(events.map(({ type }) => type).sort()).toEqual(['SIGN_OFF', 'SIGN_ON']);
      const visits = await em().find(SignOnEvent, { sourceEventId: on.sourceEventId });
      expect(visits.map((each) => each.visitId)).toEqual([visitId]);
    }
  });
});

describe('a decision', () => {
  it('waits for an event of the same sign-on that is being recorded (ATT-21)', async () => {
    const { on, id } = await sendEarlySignOff();
    const waiting = async () => {
      const sql = `select count(*) from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
      return Number((await em().execute<{ count: string }[]>(sql))[0]!.count);
    };
    let dismissed: Promise<void> | undefined;
    const owner = await findEvent(id);
    await service.databases.au1.transaction(async (recording) => {
      const lock = 'select pg_advisory_xact_lock(hashtextextended(?, 0))';
      await recording.execute(lock, [toLockKey(owner, on.sourceEventId)]);
      dismissed = dismiss(id);
      await expect.poll(waiting).toBe(1);
    });
    await dismissed;
    expect(await findEvent(id)).toMatchObject({ status: 'REJECTED' });
  });

  it('is rejected for a sign-off that does not wait, and that has changed since it was seen', async () => {
    const { on, id } = await sendEarlySignOff();
    const { updatedAt } = await findEvent(id);
    service.clock.advance(1_000);
    expect((await send(on)).status).toBe(201);
    await expect(dismiss(id)).rejects.toThrow(`${id} does not wait for its sign-on`);
    const seen = dismissSignOff(context(updatedAt), { signOnEventId: id, reason: 'Seen' });
    await expect(seen).rejects.toMatchObject({ code: 'EDIT_CONFLICT' });
  });

  it('is rejected for a sign-on after the sign-off, and for a text that is no time', async () => {
    const { off, id } = await sendEarlySignOff();
    const late = new Date(Date.parse(off.occurredAt) + 1).toISOString();
    await expect(state(id, late)).rejects.toThrow(`${late} is later than the sign-off`);
    await expect(state(id, 'morning')).rejects.toThrow('"morning" is not a date-time');
    expect(await findEvent(id)).toMatchObject({ status: 'PENDING_SIGN_ON' });
  });
});
