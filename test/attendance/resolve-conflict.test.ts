import { beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../entities/audit-entry.entity.ts';
import { SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import type { ConflictResolution } from '../../schema/enums.ts';
import { archiveVisit, closeVisit } from '../../src/domain/attendance/manual-changes.ts';
import { resolveConflict } from '../../src/domain/attendance/resolve-conflict.ts';
import { aSignOff, aSignOn, createGateFixture, type GateEvent, sendEvent } from '../support/attendance.ts';
import { OPERATOR } from '../support/audit.ts';
import { useService } from '../support/harness.ts';

/* Conflicts as gates cause them, and what a person may decide about them (CON-9). */

const service = useService();
let token: string;
const [worker, colleague] = createGateFixture().workers.active as [string, string];

beforeAll(async () => {
  token = await service.tokenOf('A');
});

const context = () => ({ database: service.databases.au1, clock: service.clock, source: OPERATOR });
const em = () => service.databases.au1.fork();
const instant = (milliseconds: number) => new Date(service.clock.now() + milliseconds).toISOString();
const resolveWithDefaults = (
  id: number,
  resolution: ConflictResolution = 'USE_EVENT_TIME',
  reason = 'Seen',
  by = 'Kim Tran',
) => resolveConflict(context(), { id, resolution, reason, by });

/** Begins a visit through the gate. */
async function beginVisit(event: Partial<GateEvent> = {}) {
  const on = aSignOn(worker, event);
  const { status, body } = await sendEvent(service.app, token, on);
  expect(status).toBe(201);
  return { on, visitId: body.data.signOnId as string };
}

const closeManually = (visitId: string) => closeVisit(context(), { visitId, by: 'Robin', reason: 'Went home' });

/** Sends an event that is 409, and returns the number of its conflict. */
async function createConflict(event: GateEvent, code: string): Promise<number> {
  const { status, body } = await sendEvent(service.app, token, event);
  expect([status, body.code]).toEqual([409, code]);
  return (await em().findOneOrFail(SignOnConflict, { sourceEventId: event.sourceEventId, code: code as never })).id;
}

describe('a conflict that is resolved by the time of its event', () => {
  it('ends the visit that a person has closed, and is recorded', async () => {
    const { on, visitId } = await beginVisit();
    await closeManually(visitId);
    const off = aSignOff(on);
    const id = await createConflict(off, 'ATTENDANCE_CLOSED');
    service.clock.advance(1_000);
    await resolveWithDefaults(id);
    const now = instant(0);
    const closedAt = new Date(off.occurredAt).toISOString();
    expect(await em().findOne(SignOnVisit, visitId)).toMatchObject({
      ...{ closedAt, closedBy: 'Kim Tran', closingReason: 'Seen', updatedAt: now, signedOffAt: null },
    });
    expect(await em().findOne(SignOnConflict, id)).toMatchObject({
      ...{ resolution: 'USE_EVENT_TIME', resolutionReason: 'Seen', resolvedBy: 'Kim Tran' },
      resolvedAt: now,
    });
    const entries = await em().find(AuditEntry, { at: now }, { orderBy: { action: 'asc' } });
    expect(entries.map(({ action, objectId, personId }) => [action, objectId, personId])).toEqual([
      ['conflict.resolved', String(id), worker],
      ['visit.closed', visitId, worker],
    ]);
  });

  it.each([
    ['when it began', true, () => ({ on: instant(-60_000), off: instant(-60_000) })],
    ['before it began', false, () => ({ on: instant(-60_000), off: instant(-60_001) })],
    ['now', true, () => ({ on: instant(-60_000), off: instant(0) })],
    ['later than now', false, () => ({ on: instant(-60_000), off: instant(1) })],
  ])('may end it %s: %s', async (_, isPossible, times) => {
    const { on, off } = times();
    const begun = await beginVisit({ occurredAt: on });
    await closeManually(begun.visitId);
    const id = await createConflict(aSignOff(begun.on, { occurredAt: off }), 'ATTENDANCE_CLOSED');
    if (isPossible) await resolveWithDefaults(id);
    else await expect(resolveWithDefaults(id)).rejects.toThrow(`the visit cannot have ended at ${off}`);
    const { resolvedAt } = await em().findOneOrFail(SignOnConflict, id);
    expect(resolvedAt).toBe(isPossible ? instant(0) : null);
  });
});

describe('a conflict that cannot be resolved by the time of its event', () => {
  it.each<[problem: string, refuseEvent: () => Promise<number>]>([
    [
      'only a sign-off can end a visit',
      async () => {
        const { on } = await beginVisit();
        return createConflict({ ...on, workerId: colleague }, 'EVENT_MISMATCH');
      },
    ],
    [
      'no visit is recorded that the event could end',
      async () => {
        const { on } = await beginVisit();
        return createConflict(aSignOff(on, { sourceSignOnEventId: null as never }), 'SIGN_ON_REQUIRED');
      },
    ],
    [
      'the recorded visit is of another worker',
      async () => {
        const { on } = await beginVisit();
        return createConflict(aSignOff(on, { workerId: colleague }), 'WORKER_MISMATCH');
      },
    ],
    [
      'the visit was archived at 20',
      async () => {
        const { on, visitId } = await beginVisit();
        await archiveVisit(context(), visitId);
        return createConflict(aSignOff(on), 'ATTENDANCE_CLOSED');
      },
    ],
    [
      'a gate signed the worker off at 2026-05-21T05:30:00.000Z',
      async () => {
        const { on } = await beginVisit();
        await sendEvent(service.app, token, aSignOff(on));
        return createConflict(aSignOff(on, { occurredAt: '2026-05-21T06:00:00Z' }), 'ALREADY_SIGNED_OFF');
      },
    ],
    [
      // The event with the same id comes before the sign-on that the repetition names.
      'a gate signed the worker off at 2026-05-21T05:30:00.000Z',
      async () => {
        const [first, second] = [await beginVisit(), await beginVisit()];
        const off = aSignOff(first.on);
        await sendEvent(service.app, token, off);
        return createConflict({ ...off, sourceSignOnEventId: second.on.sourceEventId }, 'EVENT_MISMATCH');
      },
    ],
  ])('because %s', async (problem, refuseEvent) => {
    const id = await refuseEvent();
    const visits = await em().findAll(SignOnVisit, { orderBy: { id: 'asc' } });
    await expect(resolveWithDefaults(id)).rejects.toMatchObject({
      field: 'resolution',
      message: expect.stringContaining(problem),
    });
    expect(await em().findAll(SignOnVisit, { orderBy: { id: 'asc' } })).toEqual(visits);
    await resolveWithDefaults(id, 'KEEP_RECORD');
    expect(await em().findOne(SignOnConflict, id)).toMatchObject({ resolution: 'KEEP_RECORD' });
    expect(await em().findAll(SignOnVisit, { orderBy: { id: 'asc' } })).toEqual(visits);
  });

  it('because there is none', async () => {
    await expect(resolveWithDefaults(999_999)).rejects.toMatchObject({ field: 'id' });
  });
});

describe('a conflict that was resolved before', () => {
  it('stays as it is, and only the same decision of the same person is no error', async () => {
    const { on, visitId } = await beginVisit();
    await closeManually(visitId);
    const id = await createConflict(aSignOff(on), 'ATTENDANCE_CLOSED');
    await resolveWithDefaults(id, 'KEEP_RECORD');
    const resolved = await em().findOneOrFail(SignOnConflict, id);
    service.clock.advance(1_000);
    await resolveWithDefaults(id, 'KEEP_RECORD');
    for (const [resolution, reason, by] of [
      ['USE_EVENT_TIME', 'Seen', 'Kim Tran'],
      ['KEEP_RECORD', 'Another reason', 'Kim Tran'],
      ['KEEP_RECORD', 'Seen', 'Alex Reid'],
    ] as const) {
      await expect(resolveWithDefaults(id, resolution, reason, by)).rejects.toMatchObject({
        status: 409,
        code: 'EDIT_CONFLICT',
      });
    }
    expect(await em().findOneOrFail(SignOnConflict, id)).toEqual(resolved);
  });
});

describe('a visit that a person closes', () => {
  it.each([
    [0, true],
    [1, false],
    [-60_000, true],
    [-60_001, false],
  ])('may have ended %i ms from now, where it began a minute ago: %s (ATT-33)', async (milliseconds, isPossible) => {
    const { visitId } = await beginVisit({ occurredAt: instant(-60_000) });
    const closed = closeVisit(context(), { visitId, by: 'Robin', at: instant(milliseconds) });
    if (isPossible) expect(await closed).toMatchObject({ closedAt: instant(milliseconds), changed: true });
    else await expect(closed).rejects.toMatchObject({ field: 'at' });
  });
});
