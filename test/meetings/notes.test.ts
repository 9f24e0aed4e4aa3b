import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MeetingTemplate } from '../../entities/meeting-template.entity.ts';
import { newId } from '../../src/ids.ts';
import { type Service, startService } from '../harness.ts';

let service: Service;
let instances: FastifyInstance[];
let token: string;
let builderId: string;

beforeAll(async () => {
  service = await startService();
  instances = [service.app, await service.another()];
  token = await service.as('A');
  [builderId] = service.demo('A').builderIds as [string];
});

afterAll(() => service.stop());

async function post(path: string, payload: object, instance = 0, as = token) {
  const headers = { authorization: `Bearer ${as}` };
  const url = `/builders/${builderId}/meetings${path}`;
  const response = await instances[instance]!.inject({ method: 'POST', url, headers, payload });
  return { status: response.statusCode, body: response.json() };
}

const sync = (meetingId: string, note: object, instance = 0) => post(`/${meetingId}/notes`, note, instance);

async function newMeeting(notes?: string): Promise<string> {
  return (await post('', { title: 'Weekly', ...(notes !== undefined && { notes }) })).body.id;
}

const SECTIONS = [
  { id: 'safety', title: 'Safety' },
  { id: 'actions', title: 'Actions' },
];

async function newTemplateMeeting(): Promise<string> {
  const id = newId('meetingTemplate', service.clock.now());
  const em = service.databases.au1.fork();
  await em.insert(MeetingTemplate, { id, builderId, name: 'Site coordination', sections: SECTIONS });
  const meetingId = await newMeeting();
  await em.execute('update meeting set template_id = ? where id = ?', [id, meetingId]);
  return meetingId;
}

interface MeetingState {
  notes: string | null;
  updatedAt: string;
}

async function meetingOf(meetingId: string): Promise<MeetingState> {
  const query = `{ meeting(builderId: "${builderId}", meetingId: "${meetingId}") { notes updatedAt } }`;
  return (await service.graphql(token, query)).data.meeting;
}

const notesOf = async (meetingId: string) => (await meetingOf(meetingId)).notes;

const EDIT = `mutation ($builderId: BuilderId!, $meetingId: MeetingId!, $notes: MeetingText!, $expected: Timestamp!) {
  updateMeetingNotes(builderId: $builderId, meetingId: $meetingId, notes: $notes, expectedUpdatedAt: $expected) { notes updatedAt }
}`;
const edit = (meetingId: string, notes: string, expected: string, as = token) =>
  service.graphql(as, EDIT, { builderId, meetingId, notes, expected });

/** As a person does: reads, changes, saves; and once more when somebody else was first. */
async function editUntilSaved(meetingId: string, change: (notes: string) => string): Promise<MeetingState> {
  for (;;) {
    const { notes, updatedAt } = await meetingOf(meetingId);
    const { data, errors } = await edit(meetingId, change(notes ?? ''), updatedAt);
    if (!errors) return data.updateMeetingNotes;
    expect(errors[0]!.extensions).toEqual({ code: 'MEETING_CHANGED', http: { status: 409 } });
  }
}

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
  it('201 with the note when it is new, 200 when it updates, under one id', async () => {
    const meetingId = await newMeeting();
    const now = new Date(service.clock.now()).toISOString();
    const first = await sync(meetingId, FULL);
    expect(first.status).toBe(201);
    expect(first.body).toEqual({
      ...{ id: expect.stringMatching(/^mnote_[a-z][a-z0-9]+$/), builderId, meetingId, createdAt: now, updatedAt: now },
      ...{ ...FULL, archivedAt: null },
    });
    const again = await sync(meetingId, FULL);
    expect(again).toEqual({ status: 200, body: first.body });
    const updated = await sync(meetingId, { ...FULL, title: 'Hoist', actionItems: [{ text: 'Book it', done: true }] });
    expect(updated.status).toBe(200);
    const changed = { title: 'Hoist', actionItems: [{ text: 'Book it' }], updatedAt: expect.any(String) };
    expect(updated.body).toEqual({ ...first.body, ...changed });
    expect(updated.body.updatedAt > now).toBe(true);
    const list = await service.get(`/builders/${builderId}/meetings/${meetingId}/notes`, token);
    expect(list.json().data).toEqual([updated.body]);
  });

  it('takes what is absent or null for empty', async () => {
    const meetingId = await newMeeting();
    await sync(meetingId, FULL);
    const { externalSourceId, sourceApp } = FULL;
    const { body } = await sync(meetingId, { externalSourceId, sourceApp, title: null, detailBlocks: null });
    expect(body).toMatchObject({
      title: null,
      summaryMarkdown: null,
      detailBlocks: [],
      actionItems: [],
      sourceWebLink: null,
    });
    expect(await notesOf(meetingId)).toBeNull();
  });

  it('knows a note by sourceApp and externalSourceId, in its meeting, of its integrator', async () => {
    const meetingId = await newMeeting();
    const ids = new Set<string>();
    for (const note of [
      { externalSourceId: 'x' },
      { externalSourceId: 'x', sourceApp: 'a' },
      { externalSourceId: 'y' },
    ]) {
      ids.add((await sync(meetingId, note)).body.id);
      expect((await sync(meetingId, note)).status).toBe(200);
    }
    ids.add((await sync(await newMeeting(), { externalSourceId: 'x' })).body.id);
    ids.add((await post(`/${meetingId}/notes`, { externalSourceId: 'x' }, 0, await service.as('C'))).body.id);
    expect(ids.size).toBe(5);
  });

  it('makes one note of many at once, on two instances: one 201, the rest 200', async () => {
    const meetingId = await newMeeting();
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => sync(meetingId, FULL, at % 2)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201]);
    expect(await notesOf(meetingId)).toBe('Crane\nOn **Monday**.\n- Book it\n- Tell all');
  });

  it('400 that names every field that is wrong, never coerced', async () => {
    const meetingId = await newMeeting();
    const fields = async (note: object) => {
      const { status, body } = await sync(meetingId, note);
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
  ])('takes at most so many %s: %i', async (field, most, item) => {
    const meetingId = await newMeeting();
    const note = (count: number) => ({ externalSourceId: 'x', [field]: Array(count).fill(item) });
    expect((await sync(meetingId, note(most))).status).toBe(201);
    const { status, body } = await sync(meetingId, note(most + 1));
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
        ' https://a.example',
        'https://a.example/ü',
      ],
    ],
  ])('400 for a %s that nobody should follow', async (field, links) => {
    const meetingId = await newMeeting();
    for (const link of links) {
      const { status, body } = await sync(meetingId, { externalSourceId: 'x', [field]: link });
      expect([link, status, body.errors?.[0].fieldName]).toEqual([link, 400, field]);
    }
  });

  it('409 MEETING_NOTES_FULL when the notes of the meeting would pass a million characters', async () => {
    const meetingId = await newMeeting();
    const big = (id: string) => ({ externalSourceId: id, summaryMarkdown: 'x'.repeat(600_000) });
    expect((await sync(meetingId, big('1'))).status).toBe(201);
    const full = await sync(meetingId, big('2'));
    expect([full.status, full.body.code]).toEqual([409, 'MEETING_NOTES_FULL']);
    expect((await notesOf(meetingId))!.length).toBe(600_000);
  });
});

describe.each([
  ['without a template', async () => newMeeting()],
  ['with a template', newTemplateMeeting],
])('the notes of a meeting %s', (_, make) => {
  it('hold each synced note once, in its own place, beside what people wrote', async () => {
    const meetingId = await make();
    await editUntilSaved(meetingId, () => 'Safety\nWear hats.');
    await sync(meetingId, { externalSourceId: '1', title: 'Crane', actionItems: [{ text: 'Book it' }] });
    await sync(meetingId, { externalSourceId: '2', title: 'Hoist' });
    expect(await notesOf(meetingId)).toBe('Safety\nWear hats.\n\nCrane\n- Book it\n\nHoist');
    await editUntilSaved(meetingId, (notes) => notes.replace('hats.', 'hats and boots.'));
    await sync(meetingId, { externalSourceId: '1', title: 'Crane', summaryMarkdown: 'Tuesday' });
    expect(await notesOf(meetingId)).toBe('Safety\nWear hats and boots.\n\nCrane\nTuesday\n\nHoist');
  });

  it('are not changed by a sync that says nothing new', async () => {
    const meetingId = await make();
    await sync(meetingId, FULL);
    const before = await meetingOf(meetingId);
    await sync(meetingId, FULL);
    expect(await meetingOf(meetingId)).toEqual(before);
  });

  it('are saved for the person who read the latest; who did not gets 409 MEETING_CHANGED and nothing is changed', async () => {
    const meetingId = await make();
    const read = await meetingOf(meetingId);
    const first = await edit(meetingId, 'Mine', read.updatedAt);
    expect(first.data.updateMeetingNotes.notes).toBe('Mine');
    const second = await edit(meetingId, 'Theirs', read.updatedAt);
    expect(second.errors![0]!.extensions).toEqual({ code: 'MEETING_CHANGED', http: { status: 409 } });
    expect(await meetingOf(meetingId)).toEqual(first.data.updateMeetingNotes);
    await sync(meetingId, { externalSourceId: '1', title: 'Crane' });
    const late = await edit(meetingId, 'Late', first.data.updateMeetingNotes.updatedAt);
    expect(late.errors![0]!.extensions.code).toBe('MEETING_CHANGED');
    expect(await notesOf(meetingId)).toBe('Mine\n\nCrane');
  });

  it('keep both a note sync and a person’s edit that come at the same time', async () => {
    const meetingId = await make();
    await sync(meetingId, { externalSourceId: '0', title: 'Note 0, first' });
    const syncs = Array.from({ length: 8 }, (_, at) =>
      sync(meetingId, { externalSourceId: `${at % 4}`, title: `Note ${at % 4}, sync ${at}` }, at % 2),
    );
    const edits = Array.from({ length: 4 }, (_, at) => editUntilSaved(meetingId, (notes) => `Line ${at}\n\n${notes}`));
    const answers = await Promise.all([...syncs, ...edits]);
    for (const answer of answers) if ('status' in answer) expect([200, 201]).toContain(answer.status);
    const notes = (await notesOf(meetingId))!;
    for (let at = 0; at < 4; at++) {
      expect(notes.split(`Line ${at}`)).toHaveLength(2);
      expect(notes.split(`Note ${at}, sync`)).toHaveLength(2);
    }
    const list = await service.get(`/builders/${builderId}/meetings/${meetingId}/notes`, token);
    for (const { title } of list.json().data) expect(notes).toContain(title);
  });
});

describe('updateMeetingNotes', () => {
  it('empties the notes, and starts them in a meeting without any', async () => {
    const meetingId = await newMeeting('Old');
    await editUntilSaved(meetingId, () => '');
    expect(await notesOf(meetingId)).toBeNull();
  });

  it('needs write:meetings, and the builder’s meeting', async () => {
    const meetingId = await newMeeting();
    const { updatedAt } = await meetingOf(meetingId);
    const reader = await edit(meetingId, 'x', updatedAt, await service.as('A', ['read:meetings']));
    expect(reader.errors![0]!.extensions.code).toBe('INSUFFICIENT_SCOPE');
    const stranger = await edit(meetingId, 'x', updatedAt, await service.as('B'));
    expect(stranger.errors![0]!.extensions.code).toBe('FORBIDDEN');
    expect((await edit('meet_nosuch', 'x', updatedAt)).errors![0]!.extensions.code).toBe('NOT_FOUND');
  });

  it('is not a REST operation', async () => {
    const meetingId = await newMeeting();
    const { status } = await post(`/${meetingId}/notes/update`, { notes: 'x' });
    expect(status).toBe(404);
  });
});
