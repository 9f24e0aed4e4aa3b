import { afterAll, beforeAll, expect, it } from 'vitest';
import { aSignOff, readAttendance } from '../support/attendance.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { GateHarness } from '../support/gate-harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';

const CLOSE = `update sign_on_visit set closed_at = '2026-05-21T04:00:00Z', closed_by = 'Robin' where id = $1`;

let gateHarness: GateHarness;
let operatorTransaction: ConcurrentTransaction;

useLongerTimeLimits();
beforeAll(async () => {
  gateHarness = await GateHarness.start();
  operatorTransaction = await ConcurrentTransaction.open(gateHarness.service.databases.au1.url);
});

afterAll(async () => {
  await operatorTransaction.close();
  await gateHarness.service.stop();
});

it('a sign-off that waits while an operator closes its visit is 409, and the visit stays as it was closed (ATT-26)', async () => {
  const { on, visitId } = await gateHarness.beginVisit();
  const { posting } = await operatorTransaction.whileOpen(CLOSE, [visitId], async () => {
    const posting = gateHarness.post(aSignOff(on));
    await operatorTransaction.untilWaiting(1);
    // In an object, because returning the promise itself would make the transaction wait for it.
    return { posting };
  });
  const { status, body } = await posting;
  expect([status, body.code]).toEqual([409, 'ATTENDANCE_CLOSED']);
  expect(await gateHarness.findVisit(visitId)).toMatchObject({ closedBy: 'Robin', signedOffAt: null });
});

it('a sign-off is decided again when its visit was closed after it was read, and nothing is lost (ATT-26)', async () => {
  // A sign-off with a pending one for the same sign-on takes the slow path, which reads the visit before it writes it.
  const { on, visitId } = await gateHarness.beginVisit();
  const first = aSignOff(on);
  const waiting = aSignOff(first);
  expect((await gateHarness.post(waiting)).status).toBe(202);
  const { posting } = await operatorTransaction.whileOpen(CLOSE, [visitId], async () => {
    const posting = gateHarness.post(first);
    await operatorTransaction.untilWaiting(1);
    return { posting };
  });
  const { status, body } = await posting;
  expect([status, body.code]).toEqual([409, 'ATTENDANCE_CLOSED']);
  expect(await gateHarness.findVisit(visitId)).toMatchObject({ closedBy: 'Robin', signedOffAt: null });
  const { events, conflicts } = await readAttendance(gateHarness.service);
  expect(events.some(({ sourceEventId }) => sourceEventId === first.sourceEventId)).toBe(false);
  expect(events.find(({ sourceEventId }) => sourceEventId === waiting.sourceEventId)).toMatchObject({
    status: 'PENDING_SIGN_ON',
    rejection: null,
  });
  expect(conflicts.find(({ sourceEventId }) => sourceEventId === first.sourceEventId)).toMatchObject({
    code: 'ATTENDANCE_CLOSED',
    answers: 1,
  });
});
