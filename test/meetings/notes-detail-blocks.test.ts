import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INEXACT_NUMBER } from '../../schema/json-problems.ts';
import { MeetingHarness } from '../support/meeting-harness.ts';

let meetings: MeetingHarness;

beforeAll(async () => {
  meetings = await MeetingHarness.start();
});

afterAll(() => meetings.service.stop());

const UPSERT = `mutation ($builderId: BuilderId!, $meetingId: MeetingId!, $blocks: [JsonObject!]) {
  upsertMeetingNote(builderId: $builderId, meetingId: $meetingId, externalSourceId: "n-1", detailBlocks: $blocks) { id } }`;

const BLOCKS = [
  { content: '5', markdown: '4', text: '3', heading: '2', title: '1', type: 'section' },
  { text: 'second block', title: '', heading: 7, markdown: null, content: ['no text'], note: 'not read' },
];
const WRITTEN = '1\n2\n3\n4\n5\nsecond block';

describe.each([
  ['a meeting without a template', () => meetings.createMeeting()],
  ['a meeting with a template', () => meetings.createTemplateMeeting()],
])('the notes of %s', (_case, newMeeting) => {
  it('contain the texts of a note that has only detail blocks (MTG-18)', async () => {
    const meetingId = await newMeeting();
    const { status, body } = await meetings.syncNote(meetingId, { externalSourceId: 'n-1', detailBlocks: BLOCKS });
    expect([status, body.detailBlocks]).toEqual([201, BLOCKS]);
    expect(await meetings.readNotes(meetingId)).toBe(WRITTEN);
  });

  it('reject a number that would be stored as null (ERR-27)', async () => {
    const meetingId = await newMeeting();
    const { builderId, service, token } = meetings;
    const url = `/builders/${builderId}/meetings/${meetingId}/notes`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const payload = '{"externalSourceId":"n-1","detailBlocks":[{"text":"a","n":[1e400]}]}';
    const response = await service.request({ method: 'POST', url, headers, payload });
    expect([response.statusCode, response.json().errors]).toEqual([
      400,
      [{ fieldName: 'detailBlocks[0].n[0]', message: INEXACT_NUMBER }],
    ]);
  });

  it('contain the same through GraphQL', async () => {
    const meetingId = await newMeeting();
    const { builderId, service, token } = meetings;
    const { errors } = await service.graphql(token, UPSERT, { builderId, meetingId, blocks: BLOCKS });
    expect(errors).toBeUndefined();
    expect(await meetings.readNotes(meetingId)).toBe(WRITTEN);
  });

  it('contain the texts of the blocks between the summary and the action items (MTG-18)', async () => {
    const meetingId = await newMeeting();
    await meetings.syncNote(meetingId, {
      ...{ externalSourceId: 'n-1', title: 'Crane', summaryMarkdown: 'On **Monday**.' },
      ...{ detailBlocks: [{ text: 'Road closed' }], actionItems: [{ text: 'Book it' }] },
    });
    expect(await meetings.readNotes(meetingId)).toBe('Crane\nOn **Monday**.\nRoad closed\n- Book it');
  });

  it('are updated by the next sync, which keeps text around the block (MTG-19)', async () => {
    const meetingId = await newMeeting();
    await meetings.syncNote(meetingId, { externalSourceId: 'n-1', detailBlocks: [{ text: 'Crane' }] });
    await meetings.editUntilSaved(meetingId, (notes) => `Mine\n\n${notes}`);
    await meetings.syncNote(meetingId, { externalSourceId: 'n-1', detailBlocks: [{ text: 'Hoist' }] });
    expect(await meetings.readNotes(meetingId)).toBe('Mine\n\nHoist');
    await meetings.syncNote(meetingId, { externalSourceId: 'n-1', detailBlocks: [] });
    expect((await meetings.readNotes(meetingId))?.trim()).toBe('Mine');
  });

  it('count the texts of the blocks towards their limit (409 MEETING_NOTES_FULL) (MTG-21)', async () => {
    const meetingId = await newMeeting();
    const big = (externalSourceId: string) =>
      meetings.syncNote(meetingId, { externalSourceId, detailBlocks: [{ text: 'x'.repeat(600_000) }] });
    expect((await big('n-1')).status).toBe(201);
    const { status, body } = await big('n-2');
    expect([status, body.code]).toEqual([409, 'MEETING_NOTES_FULL']);
  });
});
