import { afterAll, beforeAll, expect, it } from 'vitest';
import { attendanceOf, signOff } from '../support/attendance.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { GateBench } from '../support/gate-bench.ts';

const CLOSE = `update sign_on_visit set closed_at = '2026-05-21T04:00:00Z', closed_by = 'Robin' where id = $1`;

let gates: GateBench;
let operator: ConcurrentTransaction;

beforeAll(async () => {
  gates = await GateBench.start();
  operator = await ConcurrentTransaction.open(gates.service.databases.au1.url);
});

afterAll(async () => {
  await operator.close();
  await gates.service.stop();
});

it('a sign-off that waits while an operator closes its visit is 409, and the visit stays as it was closed (ATT-26)', async () => {
  const { on, visitId } = await gates.begin();
  const { posting } = await operator.whileOpen(CLOSE, [visitId], async () => {
    const posting = gates.post(signOff(on));
    await operator.untilWaiting(1);
    // Within an object, so that nothing waits for it before the commit.
    return { posting };
  });
  const { status, body } = await posting;
  expect([status, body.code]).toEqual([409, 'ATTENDANCE_CLOSED']);
  expect(await gates.visit(visitId)).toMatchObject({ closedBy: 'Robin', signedOffAt: null });
});

it('a sign-off is decided again when its visit was closed after it was read, and nothing is lost (ATT-26)', async () => {
  // A sign-off that another one waits for is not recorded in one statement: the visit is read, and then written.
  const { on, visitId } = await gates.begin();
  const first = signOff(on);
  const waiting = signOff(first);
  expect((await gates.post(waiting)).status).toBe(202);
  const { posting } = await operator.whileOpen(CLOSE, [visitId], async () => {
    const posting = gates.post(first);
    await operator.untilWaiting(1);
    return { posting };
  });
  const { status, body } = await posting;
  expect([status, body.code]).toEqual([409, 'ATTENDANCE_CLOSED']);
  expect(await gates.visit(visitId)).toMatchObject({ closedBy: 'Robin', signedOffAt: null });
  const { events, conflicts } = await attendanceOf(gates.service);
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
