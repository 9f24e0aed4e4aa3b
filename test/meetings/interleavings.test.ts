import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { MeetingHarness } from '../support/meeting-harness.ts';

let meetings: MeetingHarness;
let otherTransaction: ConcurrentTransaction;

beforeAll(async () => {
  meetings = await MeetingHarness.start();
  otherTransaction = await ConcurrentTransaction.open(meetings.service.databases.au1.url);
});

afterAll(async () => {
  await otherTransaction.close();
  await meetings.service.stop();
});

it('a change that waits for another one of the meeting moves on the updatedAt of that one (MTG-8)', async () => {
  const meetingId = await meetings.createMeeting();
  const changedAt = '2030-01-01T00:00:00.000Z';
  const [answer] = await otherTransaction.respondWhileOpen(
    'update meeting set updated_at = $2 where id = $1',
    [meetingId, changedAt],
    [
      () =>
        meetings.service.request({
          method: 'PATCH',
          url: `/builders/${meetings.builderId}/meetings/${meetingId}`,
          headers: { authorization: `Bearer ${meetings.token}` },
          payload: { title: 'New' },
        }),
    ],
  );
  expect(answer!.json()).toMatchObject({ title: 'New' });
  expect(answer!.json().updatedAt > changedAt).toBe(true);
});
