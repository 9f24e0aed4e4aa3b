import { beforeAll, describe, expect, test } from 'vitest';
import { Meeting } from '../../entities/meeting.entity.ts';
import { MeetingNote } from '../../entities/meeting-note.entity.ts';
import { MeetingTemplate } from '../../entities/meeting-template.entity.ts';
import { type Accounts, addAccounts, instantAt, timestampsAt } from '../support/accounts.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let accounts: Accounts;
let token: string;

const SCOPE = ['read:builders', 'read:projects', 'read:meetings'];

beforeAll(async () => {
  accounts = await addAccounts(service);
  token = await service.createToken({ clientId: accounts.clientId, scope: SCOPE });
  const { builderId, projectId, otherBuilderId, integratorId } = accounts;
  const em = service.databases.au1.fork();
  await em.insert(MeetingTemplate, {
    id: 'mtpl_a1',
    builderId,
    name: 'Toolbox talk',
    sections: [{ id: 'safety', title: 'Safety' }],
  });
  await em.insertMany(Meeting, [
    {
      id: 'meet_a2',
      builderId,
      title: 'Toolbox talk',
      date: '2026-03-03T00:00:00.000Z',
      status: 'RUNNING',
      templateId: 'mtpl_a1',
      templateResponse: {
        sections: [
          { id: 'safety', title: 'Safety', text: 'Wear hats.' },
          { id: 'other', title: 'Other', text: '' },
        ],
        syncedNotes: [{ noteId: 'mnote_a1', text: 'Crane on Monday.' }],
      },
      ...timestampsAt(2),
    },
    {
      id: 'meet_a1',
      builderId,
      projectId,
      title: 'Kick-off',
      date: '2026-03-02T23:59:59.999Z',
      status: 'DRAFT',
      agenda: 'Programme',
      plainNotes: 'All well.',
      integratorId,
      sourceApp: 'notes-app',
      externalSourceId: 'm-1',
      ...timestampsAt(1),
    },
    {
      id: 'meet_a3',
      builderId,
      title: 'Handover',
      date: '2026-03-04T12:00:00.000Z',
      status: 'COMPLETED',
      templateId: 'mtpl_a1',
      ...timestampsAt(3),
    },
    {
      id: 'meet_b1',
      builderId: otherBuilderId,
      title: 'Other',
      date: instantAt(0),
      status: 'DRAFT',
      ...timestampsAt(4),
    },
  ]);
  await em.insertMany(MeetingNote, [
    note('mnote_a2', { ...timestampsAt(2) }),
    note('mnote_a1', {
      sourceApp: 'notes-app',
      sourceDeepLink: 'https://notes.example/app/1',
      sourceWebLink: 'https://notes.example/1',
      title: 'Crane',
      summaryMarkdown: '# Crane\n\nMonday.',
      detailBlocks: [{ kind: 'text', runs: [{ text: 'Monday' }] }],
      actionItems: [{ text: 'Book the crane' }],
      capturedStartedAt: instantAt(10),
      capturedEndedAt: instantAt(20),
    }),
    note('mnote_a3', { archivedAt: instantAt(50) }),
  ]);
});

function note(id: string, fields: Partial<MeetingNote> = {}) {
  const { builderId, integratorId } = accounts;
  const lists = { detailBlocks: [], actionItems: [] };
  return {
    id,
    builderId,
    meetingId: 'meet_a2',
    integratorId,
    externalSourceId: id,
    ...lists,
    ...timestampsAt(1),
    ...fields,
  };
}

const list = (query = '') => service.get(`/builders/${accounts.builderId}/meetings${query}`, token);
const notesOf = (meetingId: string) =>
  service.get(`/builders/${accounts.builderId}/meetings/${meetingId}/notes`, token);
const idsOf = (response: { json(): { data: { id: string }[] } }) => response.json().data.map(({ id }) => id);

describe('GET /builders/{builderId}/meetings', () => {
  describe('200', () => {
    test('a meeting has the fields of the contract, no more (MTG-1)', async () => {
      const response = await list('?limit=1');
      expect(response.statusCode).toBe(200);
      expect(response.json()).toEqual({
        data: [
          {
            id: 'meet_a1',
            builderId: accounts.builderId,
            projectId: accounts.projectId,
            title: 'Kick-off',
            name: 'Kick-off',
            date: '2026-03-02T23:59:59.999Z',
            status: 'DRAFT',
            agenda: 'Programme',
            meetingTitle: 'Kick-off',
            notes: 'All well.',
            updatedAt: instantAt(2),
          },
        ],
        meta: { totalCount: 3, totalPages: 3, offset: 0, limit: 1 },
      });
    });

    test('the notes of a meeting with a template are the text of its template response (MTG-22)', async () => {
      const { data } = (await list()).json();
      expect(data.map(({ notes }: { notes: string | null }) => notes)).toEqual([
        'All well.',
        'Safety\nWear hats.\n\nCrane on Monday.',
        null,
      ]);
      expect(data[1]).toMatchObject({ projectId: null, agenda: null });
    });

    test.each([
      ['', ['meet_a1', 'meet_a2', 'meet_a3']],
      ['?status=RUNNING', ['meet_a2']],
      ['?status=COMPLETED&status=DRAFT', ['meet_a1', 'meet_a3']],
      ['?startDate=2026-03-02&endDate=2026-03-02', ['meet_a1']],
      ['?startDate=2026-03-03', ['meet_a2', 'meet_a3']],
      ['?endDate=2026-03-03T00:00:00Z', ['meet_a1', 'meet_a2']],
      ['?startDate=2026-03-03T10:00:00%2B10:00&endDate=2026-03-04', ['meet_a2', 'meet_a3']],
      ['?startDate=2026-03-03&status=DRAFT', []],
      ['?offset=2&limit=2', ['meet_a3']],
    ])('the list%s is %j (MTG-2)', async (query, ids) => {
      expect(idsOf(await list(query))).toEqual(ids);
    });

    test('filters by project (MTG-2)', async () => {
      expect(idsOf(await list(`?projectId=${accounts.projectId}`))).toEqual(['meet_a1']);
      expect(idsOf(await list(`?projectId=${accounts.otherProjectId}`))).toEqual([]);
    });

    test('is read in one statement', async () => {
      expect(await service.countStatements('au1', () => list('?status=DRAFT&status=RUNNING'))).toBe(1);
    });
  });

  describe('400', () => {
    test.each([
      ['status=OVER', ['status']],
      ['startDate=yesterday', ['startDate']],
      ['endDate=2026-02-30', ['endDate']],
      ['startDate=2026-03-03&endDate=2026-03-02', ['endDate']],
      ['startDate=2026-03-03&startDate=2026-03-04', ['startDate']],
      ['projectId=meet_a1&limit=0', ['projectId', 'limit']],
    ])('?%s names every field that fails', async (query, fields) => {
      const response = await list(`?${query}`);
      expect(response.statusCode).toBe(400);
      const names = response.json().errors.map((error: { fieldName: string }) => error.fieldName);
      expect(names.sort()).toEqual(fields.sort());
    });
  });

  test('403 without read:meetings, and for a builder that is not connected (MTG-10)', async () => {
    const other = await service.createToken({ clientId: accounts.clientId, scope: 'read:builders' });
    const unscoped = await service.get(`/builders/${accounts.builderId}/meetings`, other);
    expect([unscoped.statusCode, unscoped.json().code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    const stranger = await service.get(`/builders/${accounts.unconnectedBuilderId}/meetings`, token);
    expect([stranger.statusCode, stranger.json().code]).toEqual([403, 'FORBIDDEN']);
  });
});

describe('GET /builders/{builderId}/meetings/{meetingId}/notes', () => {
  test('200 with the notes that are not archived, oldest first (MTG-16)', async () => {
    const response = await notesOf('meet_a2');
    expect(response.statusCode).toBe(200);
    expect(response.json().meta).toEqual({ totalCount: 2, totalPages: 1, offset: 0, limit: 25 });
    expect(response.json().data).toEqual([
      {
        id: 'mnote_a1',
        builderId: accounts.builderId,
        meetingId: 'meet_a2',
        externalSourceId: 'mnote_a1',
        sourceApp: 'notes-app',
        sourceDeepLink: 'https://notes.example/app/1',
        sourceWebLink: 'https://notes.example/1',
        title: 'Crane',
        summaryMarkdown: '# Crane\n\nMonday.',
        detailBlocks: [{ kind: 'text', runs: [{ text: 'Monday' }] }],
        actionItems: [{ text: 'Book the crane' }],
        capturedStartedAt: instantAt(10),
        capturedEndedAt: instantAt(20),
        createdAt: instantAt(1),
        updatedAt: instantAt(2),
        archivedAt: null,
      },
      expect.objectContaining({ id: 'mnote_a2', sourceApp: null, title: null, detailBlocks: [], actionItems: [] }),
    ]);
  });

  test('200 with an empty page for a meeting without notes', async () => {
    expect((await notesOf('meet_a1')).json()).toMatchObject({ data: [], meta: { totalCount: 0 } });
  });

  test('403 without read:meetings', async () => {
    const other = await service.createToken({ clientId: accounts.clientId, scope: 'read:builders' });
    const response = await service.get(`/builders/${accounts.builderId}/meetings/meet_a2/notes`, other);
    expect([response.statusCode, response.json().code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
  });

  test.each(['meet_nosuch', 'meet_b1', 'nonsense'])('404 for the meeting %s (MTG-10)', async (id) => {
    const response = await notesOf(id);
    expect([response.statusCode, response.json().code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('GraphQL', () => {
  const one =
    'query ($id: BuilderId!, $meeting: MeetingId!) { meeting(builderId: $id, meetingId: $meeting) { createdAt } }';

  test('reads one meeting, with createdAt (MTG-1)', async () => {
    const { data } = await service.graphql(token, one, { id: accounts.builderId, meeting: 'meet_a1' });
    expect(data.meeting).toEqual({ createdAt: instantAt(1) });
  });

  test("does not find another builder's meeting, and needs read:meetings", async () => {
    const foreign = await service.graphql(token, one, { id: accounts.builderId, meeting: 'meet_b1' });
    expect(foreign.errors![0]!.extensions.code).toBe('NOT_FOUND');
    const other = await service.createToken({ clientId: accounts.clientId, scope: 'read:builders' });
    const unscoped = await service.graphql(other, one, { id: accounts.builderId, meeting: 'meet_a1' });
    expect(unscoped.errors![0]!.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });

  test('walks from builders to meetings, their projects, templates and notes in one statement for each', async () => {
    const query = `{ builders { data { meetings(status: [DRAFT, RUNNING], startDate: "2026-03-02") { data {
      id builder { name } template { name sections { id title } }
      project { name meetings { data { id } } } syncedNotes { data { id meeting { title } } }
    } } } } }`;
    const { data } = await service.graphql(token, query);
    const builder = { name: 'Hill Homes' };
    expect(data.builders.data.map(({ meetings }: { meetings: { data: object[] } }) => meetings.data)).toEqual([
      [
        {
          id: 'meet_a1',
          builder,
          template: null,
          project: { name: 'Hill School', meetings: { data: [{ id: 'meet_a1' }] } },
          syncedNotes: { data: [] },
        },
        {
          id: 'meet_a2',
          builder,
          template: { name: 'Toolbox talk', sections: [{ id: 'safety', title: 'Safety' }] },
          project: null,
          syncedNotes: {
            data: [
              { id: 'mnote_a1', meeting: { title: 'Toolbox talk' } },
              { id: 'mnote_a2', meeting: { title: 'Toolbox talk' } },
            ],
          },
        },
      ],
      [],
    ]);
    // Builders, meetings; of those builders, templates, projects and notes; of those meetings, and meetings.
    expect(await service.countStatements('au1', () => service.graphql(token, query))).toBe(8);
  });
});

describe('the database', () => {
  test('holds one note of an application and external id, also where the application is not said', async () => {
    const insert = (fields: Partial<MeetingNote>) =>
      service.databases.au1.fork().insert(MeetingNote, note('mnote_c1', fields));
    await expect(insert({ externalSourceId: 'mnote_a2' })).rejects.toMatchObject({ code: '23505' });
    await expect(insert({ externalSourceId: 'mnote_a1', sourceApp: 'notes-app' })).rejects.toMatchObject({
      code: '23505',
    });
  });

  test('holds one meeting of an application and external id, and any number without', async () => {
    const { builderId, integratorId } = accounts;
    const insert = (fields: Partial<Meeting>) =>
      service.databases.au1.fork().insert(Meeting, {
        id: 'meet_c1',
        builderId: accounts.otherBuilderId,
        integratorId,
        title: 'Again',
        date: instantAt(0),
        status: 'DRAFT',
        ...timestampsAt(9),
        ...fields,
      });
    await expect(insert({ builderId, sourceApp: 'notes-app', externalSourceId: 'm-1' })).rejects.toMatchObject({
      code: '23505',
    });
    await insert({ id: 'meet_c2', externalSourceId: 'm-2' });
    await insert({ id: 'meet_c3', externalSourceId: 'm-2' });
  });
});
