import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MeetingBench } from '../support/meetings.ts';

let meetings: MeetingBench;

beforeAll(async () => {
  meetings = await MeetingBench.start();
});

afterAll(() => meetings.service.stop());

const FULL = {
  externalSourceId: 'n-1',
  title: 'Crane',
  detailBlocks: [{ b: 1, a: [2] }],
  actionItems: [{ text: 'Book it' }],
};

describe.each([
  ['without a template', () => meetings.newMeeting()],
  ['with a template', () => meetings.newTemplateMeeting()],
])('the notes of a meeting %s', (_, make) => {
  it('contain each synced note once, in its own block, beside the text of people (MTG-17, MTG-19)', async () => {
    const meetingId = await make();
    await meetings.editUntilSaved(meetingId, () => 'Safety\nWear hats.');
    await meetings.sync(meetingId, { externalSourceId: '1', title: 'Crane', actionItems: [{ text: 'Book it' }] });
    await meetings.sync(meetingId, { externalSourceId: '2', title: 'Hoist' });
    expect(await meetings.notesOf(meetingId)).toBe('Safety\nWear hats.\n\nCrane\n- Book it\n\nHoist');
    await meetings.editUntilSaved(meetingId, (notes) => notes.replace('hats.', 'hats and boots.'));
    await meetings.sync(meetingId, { externalSourceId: '1', title: 'Crane', summaryMarkdown: 'Tuesday' });
    expect(await meetings.notesOf(meetingId)).toBe('Safety\nWear hats and boots.\n\nCrane\nTuesday\n\nHoist');
  });

  it('are not changed by a repeated sync (MTG-19)', async () => {
    const meetingId = await make();
    await meetings.sync(meetingId, FULL);
    const before = await meetings.read(meetingId);
    await meetings.sync(meetingId, FULL);
    expect(await meetings.read(meetingId)).toEqual(before);
  });

  // MTG-24
  it('are saved with the latest updatedAt; with an older one nothing changes and it is 409 MEETING_CHANGED', async () => {
    const meetingId = await make();
    const read = await meetings.read(meetingId);
    const first = await meetings.edit(meetingId, 'Mine', read.updatedAt);
    expect(first.data.updateMeetingNotes.notes).toBe('Mine');
    const second = await meetings.edit(meetingId, 'Theirs', read.updatedAt);
    expect(second.errors![0]!.extensions).toEqual({ code: 'MEETING_CHANGED', http: { status: 409 } });
    expect(await meetings.read(meetingId)).toEqual(first.data.updateMeetingNotes);
    await meetings.sync(meetingId, { externalSourceId: '1', title: 'Crane' });
    const late = await meetings.edit(meetingId, 'Late', first.data.updateMeetingNotes.updatedAt);
    expect(late.errors![0]!.extensions.code).toBe('MEETING_CHANGED');
    expect(await meetings.notesOf(meetingId)).toBe('Mine\n\nCrane');
  });

  it('contain both of a concurrent sync and edit (MTG-24)', async () => {
    const meetingId = await make();
    await meetings.sync(meetingId, { externalSourceId: '0', title: 'Note 0, first' });
    const syncs = Array.from({ length: 8 }, (_, at) =>
      meetings.sync(meetingId, { externalSourceId: `${at % 4}`, title: `Note ${at % 4}, sync ${at}` }, at % 2),
    );
    const edits = Array.from({ length: 4 }, (_, at) =>
      meetings.editUntilSaved(meetingId, (notes) => `Line ${at}\n\n${notes}`),
    );
    const answers = await Promise.all([...syncs, ...edits]);
    for (const answer of answers) if ('status' in answer) expect([200, 201]).toContain(answer.status);
    const notes = (await meetings.notesOf(meetingId))!;
    for (let at = 0; at < 4; at++) {
      expect(notes.split(`Line ${at}`)).toHaveLength(2);
      expect(notes.split(`Note ${at}, sync`)).toHaveLength(2);
    }
    for (const { title } of await meetings.listOf(meetingId)) expect(notes).toContain(title);
  });
});

describe('updateMeetingNotes', () => {
  it('can empty the notes, and create those of a meeting without notes (MTG-23)', async () => {
    const meetingId = await meetings.newMeeting('Old');
    await meetings.editUntilSaved(meetingId, () => '');
    expect(await meetings.notesOf(meetingId)).toBeNull();
  });

  it('requires write:meetings and a meeting of the builder (MTG-23)', async () => {
    const meetingId = await meetings.newMeeting();
    const { updatedAt } = await meetings.read(meetingId);
    const reader = await meetings.edit(meetingId, 'x', updatedAt, await meetings.service.as('A', ['read:meetings']));
    expect(reader.errors![0]!.extensions.code).toBe('INSUFFICIENT_SCOPE');
    const stranger = await meetings.edit(meetingId, 'x', updatedAt, await meetings.service.as('B'));
    expect(stranger.errors![0]!.extensions.code).toBe('FORBIDDEN');
    expect((await meetings.edit('meet_nosuch', 'x', updatedAt)).errors![0]!.extensions.code).toBe('NOT_FOUND');
  });

  it('is not a REST operation (MTG-23)', async () => {
    const meetingId = await meetings.newMeeting();
    const { status } = await meetings.post(`/${meetingId}/notes/update`, { notes: 'x' });
    expect(status).toBe(404);
  });
});
