import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MeetingHarness } from '../support/meeting-harness.ts';

let meetings: MeetingHarness;

beforeAll(async () => {
  meetings = await MeetingHarness.start();
});

afterAll(() => meetings.service.stop());

const FULL = {
  externalSourceId: 'n-1',
  sourceApp: 'fieldnotes',
  sourceDeepLink: 'fieldnotes://note/1',
  sourceWebLink: 'https://fieldnotes.example.com/n/1?tab=2#top',
  title: 'Crane',
  summaryMarkdown: 'On **Monday**.',
  detailBlocks: [{ type: 'paragraph', runs: [{ text: 'Monday', marks: ['BOLD'], weight: 1.5 }], deep: { er: null } }],
  actionItems: [{ text: 'Book it' }, { text: 'Tell all' }],
  capturedStartedAt: '2026-05-20T21:00:00.000Z',
  capturedEndedAt: '2026-05-20T22:00:00.000Z',
};

describe('POST /builders/{builderId}/meetings/{meetingId}/notes', () => {
  it('201 with the note when it is new, 200 when it updates, under one id (MTG-12, MTG-13)', async () => {
    const meetingId = await meetings.createMeeting();
    const now = new Date(meetings.service.clock.now()).toISOString();
    const first = await meetings.syncNote(meetingId, FULL);
    expect(first.status).toBe(201);
    expect(first.body).toEqual({
      ...{
        id: expect.stringMatching(/^mnote_[a-z][a-z0-9]+$/),
        builderId: meetings.builderId,
        meetingId,
        createdAt: now,
        updatedAt: now,
      },
      ...{ ...FULL, archivedAt: null },
    });
    const again = await meetings.syncNote(meetingId, FULL);
    expect(again).toEqual({ status: 200, body: first.body });
    const updated = await meetings.syncNote(meetingId, {
      ...FULL,
      title: 'Hoist',
      actionItems: [{ text: 'Book it', done: true }],
    });
    expect(updated.status).toBe(200);
    const changed = { title: 'Hoist', actionItems: [{ text: 'Book it' }], updatedAt: expect.any(String) };
    expect(updated.body).toEqual({ ...first.body, ...changed });
    expect(updated.body.updatedAt > now).toBe(true);
    expect(await meetings.listNotes(meetingId)).toEqual([updated.body]);
  });

  it('treats absent and null fields as empty (MTG-14)', async () => {
    const meetingId = await meetings.createMeeting();
    await meetings.syncNote(meetingId, FULL);
    const { externalSourceId, sourceApp } = FULL;
    const { body } = await meetings.syncNote(meetingId, {
      externalSourceId,
      sourceApp,
      title: null,
      detailBlocks: null,
    });
    expect(body).toMatchObject({
      title: null,
      summaryMarkdown: null,
      detailBlocks: [],
      actionItems: [],
      sourceWebLink: null,
    });
    expect(await meetings.readNotes(meetingId)).toBeNull();
  });

  it('identifies a note by sourceApp and externalSourceId within its meeting and integrator (MTG-13)', async () => {
    const meetingId = await meetings.createMeeting();
    const ids = new Set<string>();
    for (const note of [
      { externalSourceId: 'x' },
      { externalSourceId: 'x', sourceApp: 'a' },
      { externalSourceId: 'y' },
    ]) {
      ids.add((await meetings.syncNote(meetingId, note)).body.id);
      expect((await meetings.syncNote(meetingId, note)).status).toBe(200);
    }
    ids.add((await meetings.syncNote(await meetings.createMeeting(), { externalSourceId: 'x' })).body.id);
    ids.add(
      (await meetings.post(`/${meetingId}/notes`, { externalSourceId: 'x' }, 0, await meetings.service.tokenOf('C')))
        .body.id,
    );
    expect(ids.size).toBe(5);
  });

  it('creates one note from concurrent requests on two instances: one 201, the rest 200 (MTG-13)', async () => {
    const meetingId = await meetings.createMeeting();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => meetings.syncNote(meetingId, FULL, at % 2)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201]);
    expect(await meetings.readNotes(meetingId)).toBe('Crane\nOn **Monday**.\n- Book it\n- Tell all');
  });

  it('400 with all invalid fields, without coercion (MTG-12)', async () => {
    const meetingId = await meetings.createMeeting();
    const fields = async (note: object) => {
      const { status, body } = await meetings.syncNote(meetingId, note);
      expect(status).toBe(400);
      return body.errors.map(({ fieldName }: { fieldName: string }) => fieldName).sort();
    };
    expect(await fields({})).toEqual(['externalSourceId']);
    const wrong = {
      externalSourceId: 'x'.repeat(221),
      sourceApp: '',
      sourceDeepLink: 'javascript:alert(1)',
      sourceWebLink: 'http://fieldnotes.example.com',
      title: 1,
      summaryMarkdown: ['x'],
      capturedStartedAt: '2026-05-20',
      capturedEndedAt: 5,
    };
    expect(await fields(wrong)).toEqual(Object.keys(wrong).sort());
    expect(await fields({ externalSourceId: 'x', detailBlocks: { a: 1 }, actionItems: 'x' })).toEqual([
      'actionItems',
      'detailBlocks',
    ]);
    expect(
      await fields({ externalSourceId: 'x', detailBlocks: [{}, [], 'x'], actionItems: [{}, { text: 5 }, null] }),
    ).toEqual(['actionItems[0].text', 'actionItems[1].text', 'actionItems[2]', 'detailBlocks[1]', 'detailBlocks[2]']);
  });

  it.each([
    ['detailBlocks', 500, {}],
    ['actionItems', 100, { text: 'x' }],
  ])('limits %s to %i items (MTG-12)', async (field, most, item) => {
    const meetingId = await meetings.createMeeting();
    const note = (count: number) => ({ externalSourceId: 'x', [field]: Array(count).fill(item) });
    expect((await meetings.syncNote(meetingId, note(most))).status).toBe(201);
    const { status, body } = await meetings.syncNote(meetingId, note(most + 1));
    expect([status, body.errors[0].fieldName]).toEqual([400, field]);
  });

  it.each([
    [
      'sourceDeepLink',
      [
        'javascript:x',
        'JavaScript:x',
        'data:text/html,x',
        'file:///etc/passwd',
        'http://a.example',
        '/n/1',
        'x y:z',
        'https://u:p@a.example',
        'https:a.example',
        'https:\\\\a.example',
        'https://@a.example',
        `https://a.example/${'x'.repeat(1_000)}`,
      ],
    ],
    [
      'sourceWebLink',
      [
        'fieldnotes://1',
        'http://a.example',
        'https://',
        'https://u@a.example',
        'https:a.example',
        'https:///a.example',
        'https://:@a.example',
        ' https://a.example',
        'https://a.example/ü',
      ],
    ],
  ])('400 for an unsafe %s (MTG-15)', async (field, links) => {
    const meetingId = await meetings.createMeeting();
    for (const link of links) {
      const { status, body } = await meetings.syncNote(meetingId, { externalSourceId: 'x', [field]: link });
      expect([link, status, body.errors?.[0].fieldName]).toEqual([link, 400, field]);
    }
  });

  it('409 MEETING_NOTES_FULL if the notes of the meeting would exceed a million characters (MTG-21)', async () => {
    const meetingId = await meetings.createMeeting();
    const big = (id: string) => ({ externalSourceId: id, summaryMarkdown: 'x'.repeat(600_000) });
    expect((await meetings.syncNote(meetingId, big('1'))).status).toBe(201);
    const full = await meetings.syncNote(meetingId, big('2'));
    expect([full.status, full.body.code]).toEqual([409, 'MEETING_NOTES_FULL']);
    expect((await meetings.readNotes(meetingId))!.length).toBe(600_000);
  });

  it('200 for notes of exactly a million characters, and 409 for one more (MTG-21)', async () => {
    const meetingId = await meetings.createMeeting();
    const half = (id: string, length: number) => ({ externalSourceId: id, summaryMarkdown: 'x'.repeat(length) });
    await meetings.syncNote(meetingId, half('1', 500_000));
    // Two characters are between the notes.
    expect((await meetings.syncNote(meetingId, half('2', 499_999))).status).toBe(409);
    expect((await meetings.syncNote(meetingId, half('2', 499_998))).status).toBe(201);
    expect(await meetings.readNotes(meetingId)).toHaveLength(1_000_000);
  });

  it('200 when the notes are too long already, and become shorter (MTG-21)', async () => {
    const meetingId = await meetings.createMeeting();
    await meetings.syncNote(meetingId, { externalSourceId: '1', summaryMarkdown: 'x'.repeat(600_000) });
    await meetings.editUntilSaved(meetingId, (notes) => notes + 'y'.repeat(430_000));
    expect((await meetings.syncNote(meetingId, { externalSourceId: '2', title: 'z' })).status).toBe(409);
    const shorter = { externalSourceId: '1', summaryMarkdown: 'x'.repeat(590_000) };
    expect((await meetings.syncNote(meetingId, shorter)).status).toBe(200);
    expect(await meetings.readNotes(meetingId)).toHaveLength(1_020_000);
  });
});
