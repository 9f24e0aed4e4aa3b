import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MeetingHarness } from '../support/meeting-harness.ts';

let meetings: MeetingHarness;

beforeAll(async () => {
  meetings = await MeetingHarness.start();
});

afterAll(() => meetings.service.stop());

const FULL = {
  externalSourceId: 'n-1',
  title: 'Crane',
  detailBlocks: [{ b: 1, a: [2] }],
  actionItems: [{ text: 'Book it' }],
};

describe.each([
  ['without a template', () => meetings.createMeeting()],
  ['with a template', () => meetings.createTemplateMeeting()],
])('the notes of a meeting %s', (_, make) => {
  it('contain each synced note once, in its own block, beside the edited text (MTG-17, MTG-19)', async () => {
    const meetingId = await make();
    await meetings.editUntilSaved(meetingId, () => 'Safety\nWear hats.');
    await meetings.syncNote(meetingId, { externalSourceId: '1', title: 'Crane', actionItems: [{ text: 'Book it' }] });
    await meetings.syncNote(meetingId, { externalSourceId: '2', title: 'Hoist' });
    expect(await meetings.readNotes(meetingId)).toBe('Safety\nWear hats.\n\nCrane\n- Book it\n\nHoist');
    await meetings.editUntilSaved(meetingId, (notes) => notes.replace('hats.', 'hats and boots.'));
    await meetings.syncNote(meetingId, { externalSourceId: '1', title: 'Crane', summaryMarkdown: 'Tuesday' });
    expect(await meetings.readNotes(meetingId)).toBe('Safety\nWear hats and boots.\n\nCrane\nTuesday\n\nHoist');
  });

  it('have a synced note replaced after an editor changed line endings, Unicode form and spaces (MTG-20)', async () => {
    const meetingId = await make();
    await meetings.editUntilSaved(meetingId, () => 'Für Zoë\nWear hats.');
    await meetings.syncNote(meetingId, { externalSourceId: '1', title: 'Zoë ruft an', summaryMarkdown: 'Kran\nÅ' });
    await meetings.editUntilSaved(meetingId, (notes) =>
      notes.normalize('NFD').replaceAll(' ', '\u00a0').replaceAll('\n', ' \r\n'),
    );
    await meetings.syncNote(meetingId, { externalSourceId: '1', title: 'Hoist' });
    const notes = (await meetings.readNotes(meetingId))!.normalize('NFC').replaceAll('\u00a0', ' ');
    expect(notes.replace(/ *\r?\n/g, '\n')).toBe('Für Zoë\nWear hats.\n\nHoist');
  });

  it('are not changed by a repeated sync (MTG-19)', async () => {
    const meetingId = await make();
    await meetings.syncNote(meetingId, FULL);
    const before = await meetings.readMeeting(meetingId);
    await meetings.syncNote(meetingId, FULL);
    expect(await meetings.readMeeting(meetingId)).toEqual(before);
  });

  // MTG-24
  it('are saved with the latest updatedAt; with an older one nothing changes and it is 409 MEETING_CHANGED', async () => {
    const meetingId = await make();
    const read = await meetings.readMeeting(meetingId);
    const first = await meetings.editNotes(meetingId, 'Mine', read.updatedAt);
    expect(first.data.updateMeetingNotes.notes).toBe('Mine');
    const second = await meetings.editNotes(meetingId, 'Theirs', read.updatedAt);
    expect(second.errors![0]!.extensions).toEqual({ code: 'MEETING_CHANGED', http: { status: 409 } });
    expect(await meetings.readMeeting(meetingId)).toEqual(first.data.updateMeetingNotes);
    await meetings.syncNote(meetingId, { externalSourceId: '1', title: 'Crane' });
    const late = await meetings.editNotes(meetingId, 'Late', first.data.updateMeetingNotes.updatedAt);
    expect(late.errors![0]!.extensions.code).toBe('MEETING_CHANGED');
    expect(await meetings.readNotes(meetingId)).toBe('Mine\n\nCrane');
  });

  it('contain both of a concurrent sync and edit (MTG-24)', async () => {
    const meetingId = await make();
    await meetings.syncNote(meetingId, { externalSourceId: '0', title: 'Note 0, first' });
    const syncs = Array.from({ length: 8 }, (_, at) =>
      meetings.syncNote(meetingId, { externalSourceId: `${at % 4}`, title: `Note ${at % 4}, sync ${at}` }, at % 2),
    );
    const edits = Array.from({ length: 4 }, (_, at) =>
      meetings.editUntilSaved(meetingId, (notes) => `Line ${at}\n\n${notes}`),
    );
    const answers = await Promise.all([...syncs, ...edits]);
    for (const answer of answers) if ('status' in answer) expect([200, 201]).toContain(answer.status);
    const notes = (await meetings.readNotes(meetingId))!;
    for (let at = 0; at < 4; at++) {
      expect(notes.split(`Line ${at}`)).toHaveLength(2);
      expect(notes.split(`Note ${at}, sync`)).toHaveLength(2);
    }
    for (const { title } of await meetings.listNotes(meetingId)) expect(notes).toContain(title);
  });
});

describe('updateMeetingNotes', () => {
  it('can empty the notes, and create those of a meeting without notes (MTG-23)', async () => {
    const meetingId = await meetings.createMeeting('Old');
    await meetings.editUntilSaved(meetingId, () => '');
    expect(await meetings.readNotes(meetingId)).toBeNull();
  });

  it('requires write:meetings and a meeting of the builder (MTG-23)', async () => {
    const meetingId = await meetings.createMeeting();
    const { updatedAt } = await meetings.readMeeting(meetingId);
    const reader = await meetings.editNotes(
      meetingId,
      'x',
      updatedAt,
      await meetings.service.tokenOf('A', ['read:meetings']),
    );
    expect(reader.errors![0]!.extensions.code).toBe('INSUFFICIENT_SCOPE');
    const stranger = await meetings.editNotes(meetingId, 'x', updatedAt, await meetings.service.tokenOf('B'));
    expect(stranger.errors![0]!.extensions.code).toBe('FORBIDDEN');
    expect((await meetings.editNotes('meet_nosuch', 'x', updatedAt)).errors![0]!.extensions.code).toBe('NOT_FOUND');
  });

  it('is not a REST operation (MTG-23)', async () => {
    const meetingId = await meetings.createMeeting();
    const { status } = await meetings.post(`/${meetingId}/notes/update`, { notes: 'x' });
    expect(status).toBe(404);
  });
});
