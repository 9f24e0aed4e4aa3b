import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RequestUsage } from '../../src/auth/request-usage.ts';
import { updateMeeting } from '../../src/domain/meetings/meeting-writes.ts';
import { createFairShares } from '../../src/shared/fair-shares.ts';
import { type Service, startService } from '../support/harness.ts';

let service: Service;
let builderId: string;

beforeAll(async () => {
  service = await startService();
  builderId = service.demo('A').builderIds[0]!;
});

afterAll(() => service.stop());

async function createMeeting(notes: string): Promise<string> {
  const response = await service.request({
    method: 'POST',
    url: `/builders/${builderId}/meetings`,
    headers: { authorization: `Bearer ${await service.as('A')}`, 'content-type': 'application/json' },
    payload: JSON.stringify({ title: 'Walk', notes }),
  });
  expect(response.statusCode).toBe(201);
  return response.json().id;
}

/** Changes the title, and returns how many requests hold large values then. */
async function countLargeAfterChange(meetingId: string): Promise<number> {
  const shares = createFairShares();
  const usage = new RequestUsage(shares, 'a');
  const database = service.databases.au1.withLimits(usage);
  const now = service.clock.now();
  const meeting = await updateMeeting({ database, integratorId: null, builderId, now }, meetingId, {
    title: 'Changed',
  });
  expect(meeting.title).toBe('Changed');
  const { used } = shares.largeReads.stats();
  usage.end();
  return used;
}

describe('a change of a meeting', () => {
  it('is charged as a read of large values where its notes are large', async () => {
    expect(await countLargeAfterChange(await createMeeting('Crane. '.repeat(30_000)))).toBe(1);
    expect(await countLargeAfterChange(await createMeeting('Crane.'))).toBe(0);
  });
});
