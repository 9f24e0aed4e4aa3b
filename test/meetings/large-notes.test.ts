import { beforeAll, describe, expect, it } from 'vitest';
import { RequestUsage } from '../../src/auth/request-usage.ts';
import { updateMeeting } from '../../src/domain/meetings/meeting-writes.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let builderId: string;

beforeAll(async () => {
  builderId = service.findDemoClient('A').builderIds[0]!;
});

async function createMeeting(notes: string): Promise<string> {
  const response = await service.request({
    method: 'POST',
    url: `/builders/${builderId}/meetings`,
    headers: { authorization: `Bearer ${await service.tokenOf('A')}`, 'content-type': 'application/json' },
    payload: JSON.stringify({ title: 'Walk', notes }),
  });
  expect(response.statusCode).toBe(201);
  return response.json().id;
}

/** Changes the title, and returns whether the request holds memory for large values then. */
async function holdsMemoryAfterChange(meetingId: string): Promise<boolean> {
  const shares = createFairShares();
  const usage = new RequestUsage(shares, 'a');
  const database = service.databases.au1.withLimits(usage);
  const { clock } = service;
  const meeting = await updateMeeting({ clock, database }, { builderId, meetingId }, { title: 'Changed' });
  expect(meeting.title).toBe('Changed');
  const { used } = shares.memory.stats();
  usage.end();
  return used > 0;
}

describe('a change of a meeting', () => {
  it('is charged as a read of large values where its notes are large', async () => {
    expect(await holdsMemoryAfterChange(await createMeeting('Crane. '.repeat(30_000)))).toBe(true);
    expect(await holdsMemoryAfterChange(await createMeeting('Crane.'))).toBe(false);
  });
});

describe('a list of meetings with large notes', () => {
  it('reads the notes of several in one statement, up to 4 MiB (LIM-19)', async () => {
    service.clock.advance(1_000);
    const notes = 'n'.repeat(200_000);
    for (let meeting = 0; meeting < 3; meeting++) await createMeeting(notes);
    const [token, now] = [await service.tokenOf('A'), new Date(service.clock.now()).toISOString()];
    const countStatements = (limit: number) =>
      service.countStatements('au1', async () => {
        const url = `/builders/${builderId}/meetings?startDate=${now}&endDate=${now}&limit=${limit}`;
        const { data } = (await service.get(url, token)).json();
        expect(data.map((meeting: { notes: string }) => meeting.notes)).toEqual(Array(limit).fill(notes));
      });
    await countStatements(1);
    expect(await countStatements(3)).toBe(await countStatements(1));
  });
});
