import { afterAll, beforeAll, expect, it } from 'vitest';
import { RequestUsage } from '../../src/auth/request-usage.ts';
import { createMeeting } from '../../src/domain/meetings/meeting-writes.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { MeetingHarness } from '../support/meeting-harness.ts';

let meetings: MeetingHarness;
let otherTransaction: ConcurrentTransaction;

useLongerTimeLimits();
beforeAll(async () => {
  meetings = await MeetingHarness.start();
  otherTransaction = await ConcurrentTransaction.open(meetings.service.databases.au1.url);
});

afterAll(async () => {
  await otherTransaction.close();
  await meetings.service.stop();
});

it('a create that waits for another one of the same source returns the meeting of that one (MTG-5)', async () => {
  const { service, builderId, token } = meetings;
  const source = { sourceApp: 'fieldnotes', externalSourceId: 'interleaved' };
  const create = (title: string) => () =>
    service.request({
      method: 'POST',
      url: `/builders/${builderId}/meetings`,
      headers: { authorization: `Bearer ${token}` },
      payload: { title, ...source },
    });
  // Both find no meeting of the source, and wait to insert theirs.
  const [first, second] = await otherTransaction.respondWhileOpen(
    'lock table meeting in share mode',
    [],
    [create('First'), create('Second')],
  );
  expect([first!.statusCode, second!.statusCode].toSorted()).toEqual([200, 201]);
  expect(second!.json()).toEqual(first!.json());
});

it('a create is one of the concurrent writes of its share (LIM-19)', async () => {
  const shares = createFairShares();
  const release = await shares.writes.acquire('a', 100);
  const database = meetings.service.databases.au1.withLimits(new RequestUsage(shares, 'a'));
  const context = { database, caller: { integratorId: null }, clock: meetings.service.clock };
  const creating = createMeeting(context, meetings.builderId, { title: 'Waiting' }, null);
  await expect.poll(() => shares.writes.stats().queued).toBe(1);
  release();
  expect(await creating).toMatchObject({ created: true, meeting: { title: 'Waiting' } });
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
