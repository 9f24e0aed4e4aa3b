import { beforeAll, describe, expect, it, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { addMeeting, addProject } from '../support/rows.ts';

const service = useService();
let token: string;
let builderId: string;
let otherBuilderId: string;
let projectId: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
  [builderId, otherBuilderId] = service.findDemoClient('A').builderIds as [string, string];
  projectId = await addProject(service, builderId);
});

async function call(method: 'POST' | 'PATCH' | 'GET', path: string, payload?: object | string, as = token) {
  const headers = {
    authorization: `Bearer ${as}`,
    ...(typeof payload === 'string' && { 'content-type': 'application/json' }),
  };
  const response = await service.request({
    method,
    url: `/builders/${builderId}${path}`,
    headers,
    ...(payload !== undefined && { payload }),
  });
  return { status: response.statusCode, body: response.json() };
}

const create = (body: object, as = token) => call('POST', '/meetings', body, as);
const createMeeting = async (body: object = { title: 'Weekly' }) =>
  (await create(body)).body as { id: string; updatedAt: string };

async function readInvalidFields(answer: ReturnType<typeof call>): Promise<string[]> {
  const { status, body } = await answer;
  expect(status).toBe(400);
  return body.errors.map(({ fieldName }: { fieldName: string }) => fieldName).sort();
}

let sourceCount = 0;
const source = () => ({ sourceApp: 'fieldnotes', externalSourceId: `m-${++sourceCount}` });

describe('POST /builders/{builderId}/meetings', () => {
  it('201 with a draft without a project, dated now, if only a title is given (MTG-3)', async () => {
    const { status, body } = await create({ title: '  Weekly site meeting ' });
    expect(status).toBe(201);
    const now = new Date(service.clock.now()).toISOString();
    expect(body).toEqual({
      id: expect.stringMatching(/^meet_[a-z][a-z0-9]+$/),
      builderId,
      projectId: null,
      title: 'Weekly site meeting',
      name: 'Weekly site meeting',
      meetingTitle: 'Weekly site meeting',
      date: now,
      status: 'DRAFT',
      agenda: null,
      notes: null,
      updatedAt: now,
    });
    const list = await call('GET', `/meetings?startDate=${now}&endDate=${now}`);
    expect(list.body.data).toContainEqual(body);
  });

  it('201 with all given fields (MTG-3)', async () => {
    const given = {
      title: 'Kick-off',
      projectId,
      date: '2026-06-02T08:00:00+10:00',
      agenda: '1. Safety',
      notes: 'Bring hats.',
    };
    const { status, body } = await create({ ...given, ...source(), unknown: 1 });
    expect(status).toBe(201);
    expect(body).toMatchObject({ ...given, date: '2026-06-01T22:00:00.000Z', status: 'DRAFT' });
    expect(Object.keys(body)).toHaveLength(11);
  });

  it('200 with the existing meeting of the same sourceApp and externalSourceId (MTG-5)', async () => {
    const identity = source();
    const first = await create({ title: 'Kick-off', ...identity });
    const again = await create({ title: 'Other', projectId: 'proj_nosuch', ...identity });
    expect(again).toEqual({ status: 200, body: first.body });
  });

  it.each([
    [{ externalSourceId: 'm' }, 'sourceApp', 'externalSourceId'],
    [{ sourceApp: 'site-notes', externalSourceId: null }, 'externalSourceId', 'sourceApp'],
  ])('400 on the other one with %j alone (MTG-6)', async (body, fieldName, other) => {
    const errors = [{ fieldName, message: `is required with ${other}` }];
    expect(await create({ title: 'T', ...body })).toEqual({ status: 400, body: { errors } });
  });

  it('201 for another builder and for another integrator (MTG-6)', async () => {
    const { externalSourceId, sourceApp } = source();
    const identity = { title: 'T', externalSourceId, sourceApp };
    expect((await create(identity)).status).toBe(201);
    expect((await create(identity, await service.tokenOf('C'))).status).toBe(201);
    const headers = { authorization: `Bearer ${token}` };
    const elsewhere = {
      method: 'POST',
      url: `/builders/${otherBuilderId}/meetings`,
      headers,
      payload: identity,
    } as const;
    expect((await service.request(elsewhere)).statusCode).toBe(201);
  });

  it('creates one meeting from concurrent requests on two instances (MTG-5)', async () => {
    const instances = [service.app, await service.startInstance()];
    const payload = { title: 'Kick-off', ...source() };
    const headers = { authorization: `Bearer ${token}` };
    const url = `/builders/${builderId}/meetings`;
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => instances[at % 2]!.inject({ method: 'POST', url, headers, payload })),
    );
    const created = answers.filter(({ statusCode }) => statusCode === 201);
    expect(created).toHaveLength(1);
    expect(answers.every(({ statusCode }) => [200, 201].includes(statusCode))).toBe(true);
    expect(new Set(answers.map((answer) => answer.json().id)).size).toBe(1);
  });

  it('400 with all invalid fields', async () => {
    expect(await readInvalidFields(create({}))).toEqual(['title']);
    const wrong = {
      title: 5,
      projectId: 'x',
      date: '2026-06-02',
      agenda: 1,
      notes: [],
      externalSourceId: '',
      sourceApp: {},
    };
    expect(await readInvalidFields(create(wrong))).toEqual(Object.keys(wrong).sort());
  });

  it.each(['', '   ', '\n\t', 'x'.repeat(161), null, ['x'], true])('400 for the title %j (MTG-4)', async (title) => {
    expect(await readInvalidFields(create({ title }))).toEqual(['title']);
  });

  // MTG-4
  it.each(['x', 'x'.repeat(160), ` ${'x'.repeat(160)} `, '𝄞'.repeat(160)])('201 for the title %j', async (title) => {
    expect((await create({ title })).body.title).toBe(title.trim());
  });

  it.each([
    ['externalSourceId', 220],
    ['sourceApp', 80],
  ])('limits %s to 1 to %i characters (MTG-4)', async (field, longest) => {
    const send = (text: string) => create({ title: 'T', ...source(), [field]: text });
    expect((await send('𝄞'.repeat(longest))).status).toBe(201);
    expect(await readInvalidFields(send('x'.repeat(longest + 1)))).toEqual([field]);
  });

  it("404 for a project that is not the builder's (MTG-7)", async () => {
    for (const other of ['proj_nosuch', await addProject(service, otherBuilderId)]) {
      expect((await create({ title: 'T', projectId: other })).status).toBe(404);
    }
  });
});

describe('PATCH /builders/{builderId}/meetings/{meetingId}', () => {
  it('200 with the new title, trimmed, under all its names (MTG-8)', async () => {
    const { id, ...before } = await createMeeting();
    const { status, body } = await call('PATCH', `/meetings/${id}`, { title: ' New ', status: 'COMPLETED' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, title: 'New', name: 'New', meetingTitle: 'New', status: 'DRAFT' });
    expect(body.updatedAt > before.updatedAt).toBe(true);
    const same = await call('PATCH', `/meetings/${id}`, { title: 'New' });
    expect(same.body).toEqual(body);
  });

  it('200 for a meeting that was imported with the last instant as `updatedAt`', async () => {
    const { id } = await createMeeting();
    const last = '9999-12-31T23:59:59.999Z';
    await service.databases.au1.fork().execute(`update meeting set updated_at = '${last}' where id = ?`, [id]);
    const { status, body } = await call('PATCH', `/meetings/${id}`, { title: 'New' });
    expect([status, body]).toMatchObject([200, { title: 'New', updatedAt: last }]);
  });

  it('400 without a title, or with a bad one (MTG-8)', async () => {
    const { id } = await createMeeting();
    for (const body of [{}, { title: null }, { title: ' ' }, { title: 7 }]) {
      expect(await readInvalidFields(call('PATCH', `/meetings/${id}`, body))).toEqual(['title']);
    }
  });
});

describe('POST /builders/{builderId}/meetings/{meetingId}/start and /end', () => {
  it.each([
    ['start', 'RUNNING'],
    ['end', 'COMPLETED'],
  ])('%s: 200 with the meeting %s, from any state (MTG-9)', async (operation, status) => {
    const { id } = await createMeeting();
    const em = service.databases.au1.fork();
    for (const before of ['DRAFT', 'DISTRIBUTED', 'RUNNING', 'COMPLETED']) {
      await em.execute('update meeting set status = ? where id = ?', [before, id]);
      const answer = await call('POST', `/meetings/${id}/${operation}`);
      expect([answer.status, answer.body.status, answer.body.id]).toEqual([200, status, id]);
    }
  });

  it.each([undefined, {}, { status: 'DRAFT' }, ''])('take the body %j for none (MTG-9)', async (payload) => {
    const { id } = await createMeeting();
    expect((await call('POST', `/meetings/${id}/start`, payload)).body.status).toBe('RUNNING');
  });
});

describe('every write', () => {
  const writes: [string, 'POST' | 'PATCH', (id: string) => string, object][] = [
    ['create', 'POST', () => '/meetings', { title: 'T' }],
    ['update', 'PATCH', (id) => `/meetings/${id}`, { title: 'T' }],
    ['start', 'POST', (id) => `/meetings/${id}/start`, {}],
    ['end', 'POST', (id) => `/meetings/${id}/end`, {}],
    ['notes', 'POST', (id) => `/meetings/${id}/notes`, { externalSourceId: 'n' }],
  ];

  test.each(writes)(
    '%s is 403 without write:meetings, and for an integrator without a connection (MTG-10)',
    async (_, method, path, body) => {
      const { id } = await createMeeting();
      const scope = await call(method, path(id), body, await service.tokenOf('A', ['read:meetings']));
      expect([scope.status, scope.body.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
      const stranger = await call(method, path(id), body, await service.tokenOf('B'));
      expect([stranger.status, stranger.body.code]).toEqual([403, 'FORBIDDEN']);
    },
  );

  // MTG-10
  test.each(writes.slice(1))("%s is 404 for a meeting that is not the builder's", async (_, method, path, body) => {
    const foreign = await addMeeting(service, otherBuilderId);
    for (const id of [foreign, 'meet_nosuch', 'nonsense']) {
      const { status, body: answer } = await call(method, path(id), body);
      expect([status, answer.code]).toEqual([404, 'NOT_FOUND']);
    }
  });
});

describe('GraphQL', () => {
  it('takes the same writes, with the same errors', async () => {
    const run = (mutation: string) => service.graphql(token, `mutation { ${mutation} }`);
    const created = await run(
      `createMeeting(builderId: "${builderId}", title: " Weekly ", agenda: "1") { id title status createdAt }`,
    );
    const { id } = created.data.createMeeting;
    expect(created.data.createMeeting).toMatchObject({ title: 'Weekly', status: 'DRAFT' });
    const meeting = `builderId: "${builderId}", meetingId: "${id}"`;
    const { data } = await run(`
      updateMeeting(${meeting}, title: "New") { title }
      startMeeting(${meeting}) { status title builder { id } }
      endMeeting(${meeting}) { status }
      upsertMeetingNote(${meeting}, externalSourceId: "n-1", title: "Note", detailBlocks: [{ kind: "a" }], actionItems: [{ text: "b" }]) { id meeting { notes } }`);
    expect(data).toMatchObject({
      updateMeeting: { title: 'New' },
      startMeeting: { status: 'RUNNING', title: 'New', builder: { id: builderId } },
      endMeeting: { status: 'COMPLETED' },
      upsertMeetingNote: { id: expect.stringMatching(/^mnote_/), meeting: { notes: 'Note\n- b' } },
    });
    const wrong = await run(`createMeeting(builderId: "${builderId}", title: " ") { id }`);
    expect(wrong.errors![0]!.extensions).toMatchObject({ http: { status: 400 }, errors: [{ fieldName: 'title' }] });
    const unclean = await run(
      `upsertMeetingNote(${meeting}, externalSourceId: "n", detailBlocks: [{ a: ["\\u0000"] }]) { id }`,
    );
    expect(unclean.errors![0]!.extensions).toMatchObject({ http: { status: 400 } });
    const missing = await run(`startMeeting(builderId: "${builderId}", meetingId: "meet_nosuch") { id }`);
    expect(missing.errors![0]!.extensions).toMatchObject({ code: 'NOT_FOUND', http: { status: 404 } });
  });
});
