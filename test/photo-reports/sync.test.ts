import { beforeAll, describe, expect, it } from 'vitest';
import { createIntegratorId } from '../../src/demo/accounts.ts';
import { useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';
import { blocks, createPageOfEveryBlock, item, type Json, page, request } from './documents.ts';
import { addPhoto, archivePhoto } from './photo-rows.ts';

const PATH = '/photo-reports/sync';

const service = useService();
/** Two integrators that are connected to the same builder. */
const A = useBuilderClient(service, 'A');
const C = useBuilderClient(service, 'C');
let projectId: string;
let otherProjectId: string;

beforeAll(async () => {
  projectId = await addProject(service, A.builderId);
  otherProjectId = await addProject(service, A.builderId);
});

const sql = (text: string, values: unknown[] = []) =>
  service.databases.au1.fork().execute(text, values) as Promise<Json[]>;

const conflictOf = (answer: { statusCode: number; json(): Json }) => [answer.statusCode, answer.json().code];
const identityOf = ({ sourceApp, sourceExternalId }: Json) => ({ sourceApp, sourceExternalId });
const withHigherRevision = (body: Json, by = 1, more: object = {}) => ({
  ...body,
  sourceRevision: body.sourceRevision + by,
  ...more,
});

describe('200', () => {
  it('for a committed snapshot, and for its retry with idempotent true (PRP-3, PRP-7)', async () => {
    const body = request();
    const answer = await A.sendOk('POST', PATH, body);
    expect(answer).toEqual({
      status: 'partial',
      idempotent: false,
      photoReportId: expect.stringMatching(/^phrep_[a-z0-9]+$/),
      pageId: expect.stringMatching(/^page_[a-z0-9]+$/),
      sourceRevision: 1,
    });
    expect(await A.sendOk('POST', PATH, body)).toEqual({ ...answer, idempotent: true });
  });

  it('compares contents regardless of the order of fields, escapes and notation of numbers (PRP-2)', async () => {
    const body = request({ page: page([blocks.text('a'), blocks.heading('b', 2)]) });
    const { photoReportId } = await A.sendOk('POST', PATH, body);
    const reversed = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(reversed);
      if (value === null || typeof value !== 'object') return value;
      const entries = Object.entries(value).reverse();
      return Object.fromEntries(entries.map(([name, member]) => [name, reversed(member)]));
    };
    const payload = JSON.stringify(reversed(body)).replace('"level":2', '"level":2.0').replaceAll('S', '\\u0053');
    const answer = await service.request({
      method: 'POST',
      url: `/builders/${A.builderId}${PATH}`,
      headers: { authorization: `Bearer ${A.token}`, 'content-type': 'application/json' },
      payload,
    });
    expect(answer.json()).toMatchObject({ idempotent: true, photoReportId });
  });

  it('compares null as an absent field, but for free-form objects (PRP-2)', async () => {
    const list = (more: Json) => blocks.list('l', [{ ...item('i'), ...more }]);
    const withNulls = request({
      projectId: null,
      sourceDeepLink: null,
      page: {
        ...page([list({ depth: null })]),
        shortDescription: null,
        sharingMetadata: null,
        contentMetadata: { a: null },
      },
    });
    const absent = structuredClone(withNulls);
    for (const name of ['projectId', 'sourceDeepLink']) delete absent[name];
    for (const name of ['shortDescription', 'sharingMetadata']) delete absent.page[name];
    delete absent.page.blocks[0].properties.items[0].depth;
    const { photoReportId } = await A.sendOk('POST', PATH, withNulls);
    expect(await A.sendOk('POST', PATH, absent)).toMatchObject({ idempotent: true, photoReportId });
    expect(await A.sendOk('POST', PATH, withNulls)).toMatchObject({ idempotent: true, photoReportId });
    absent.page.contentMetadata = {};
    expect((await A.send('POST', PATH, absent)).json()).toMatchObject({ code: 'REVISION_CONFLICT' });
  });

  it('is synced if no image failed, else partial, at any level (PRP-7)', async () => {
    const nested = (inner: Json) => page([blocks.page('one', page([blocks.page('two', page([inner]))]))]);
    const synced = request({ page: nested(blocks.text('a')) });
    expect(await A.sendOk('POST', PATH, synced)).toMatchObject({ status: 'synced' });
    const partial = withHigherRevision(synced, 1, { page: nested(blocks.failed('a')) });
    expect(await A.sendOk('POST', PATH, partial)).toMatchObject({ status: 'partial', idempotent: false });
    expect(await A.sendOk('POST', PATH, partial)).toMatchObject({ status: 'partial', idempotent: true });
    expect(await A.sendOk('POST', PATH, withHigherRevision(synced, 2))).toMatchObject({ status: 'synced' });
  });

  it('keeps the id of a page as long as its path exists (PRP-8)', async () => {
    const tree = (...ids: string[]) => page(ids.map((id) => blocks.page(id, page([blocks.page('inner')]))));
    const body = request({ page: tree('east', 'west') });
    const { photoReportId, pageId } = await A.sendOk('POST', PATH, body);
    const pages = async () => {
      const rows = await sql('select id, path from photo_report_page where report_id = ?', [photoReportId]);
      return Object.fromEntries(rows.map(({ id, path }) => [path.join('/'), id]));
    };
    const before = await pages();
    expect(Object.keys(before).toSorted()).toEqual(['', 'east', 'east/inner', 'west', 'west/inner']);
    expect((await A.sendOk('POST', PATH, withHigherRevision(body, 1, { page: tree('north', 'west') }))).pageId).toBe(
      pageId,
    );
    const after = await pages();
    expect(Object.keys(after).toSorted()).toEqual(['', 'north', 'north/inner', 'west', 'west/inner']);
    for (const path of ['', 'west', 'west/inner']) expect(after[path]).toBe(before[path]);
  });

  it('for an identical retry after its photos were archived (PRP-3)', async () => {
    const photo = await addPhoto(service, A.builderId, projectId);
    const body = request({ projectId, page: page([blocks.image('a', photo)]) });
    const first = await A.sendOk('POST', PATH, body);
    await archivePhoto(service, photo);
    expect(await A.sendOk('POST', PATH, body)).toEqual({ ...first, idempotent: true });
    expect(conflictOf(await A.send('POST', PATH, withHigherRevision(body)))).toEqual([409, 'ATTACHMENT_CONFLICT']);
  });

  it('for an identical retry after the mapped user has left the builder (PRP-3)', async () => {
    const user = service.findDemoUser(({ email }) => email.startsWith('alex'));
    const id = (user as Json).userId ?? (user as Json).id;
    const body = request({ mappedAdminUserId: id });
    await A.sendOk('POST', PATH, body);
    await sql('delete from membership where user_id = ? and builder_id = ?', [id, A.builderId]);
    expect(await A.sendOk('POST', PATH, body)).toMatchObject({ idempotent: true });
    const answer = await A.send('POST', PATH, withHigherRevision(body));
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors).toEqual([{ fieldName: 'mappedAdminUserId', message: expect.any(String) }]);
  });

  it('accepts photos without a project, and repeated marks (PRP-14, PRP-28)', async () => {
    const photo = await addPhoto(service, A.builderId, null);
    const marked = blocks.text('b', [{ text: 'x', marks: ['BOLD', 'BOLD'] }]);
    const { statusCode } = await A.send(
      'POST',
      PATH,
      request({ projectId, page: page([blocks.image('a', photo), marked]) }),
    );
    expect(statusCode).toBe(200);
  });

  it('stores the whole request, without null fields (PRP-37)', async () => {
    const body = request({
      sourceCreatedAt: '2026-03-02T18:30:00+11:00',
      sourceDeepLink: 'https://notes.example/walks/1',
      projectId: null,
      page: {
        ...createPageOfEveryBlock(),
        contentMetadata: { deep: [{ n: -0.5e-7 }, null, 'é\u{1F3D7}'] },
        sharingMetadata: {},
      },
    });
    const { photoReportId } = await A.sendOk('POST', PATH, body);
    const query = `query ($b: BuilderId!, $r: PhotoReportId!) { photoReport(builderId: $b, photoReportId: $r) { request sourceCreatedAt } }`;
    const { data } = await service.graphql(A.token, query, { b: A.builderId, r: photoReportId });
    const { projectId: _, ...stored } = body;
    expect(data.photoReport.request).toEqual(stored);
    expect(data.photoReport.sourceCreatedAt).toBe('2026-03-02T07:30:00.000Z');
  });

  it('distinguishes reports of other applications and ids (PRP-1)', async () => {
    const body = request();
    const ids = [
      await A.sendOk('POST', PATH, body),
      await A.sendOk('POST', PATH, { ...body, sourceApp: 'other' }),
      await A.sendOk('POST', PATH, { ...body, sourceExternalId: `${body.sourceExternalId}-2` }),
    ].map(({ photoReportId }) => photoReportId);
    expect(new Set(ids).size).toBe(3);
  });
});

describe('400', () => {
  it('with all invalid fields of the request and of the page (PRP-18)', async () => {
    const answer = await A.send('POST', PATH, {
      ...request(),
      ...{ sourceApp: '', sourceRevision: '5', walkthroughDate: '2026-02-31T00:00:00Z', projectId: 'proj_1' },
      ...{
        sourceAuthor: { externalId: 'x'.repeat(221), email: 'nobody' },
        mappedAdminUserId: 'user_1',
        sourceDeepLink: 'x',
      },
      page: page([blocks.heading('a', 5)]),
    });
    expect(answer.statusCode).toBe(400);
    expect(
      answer
        .json()
        .errors.map(({ fieldName }: Json) => fieldName)
        .toSorted(),
    ).toEqual([
      ...['mappedAdminUserId', 'page.blocks[0].properties.level', 'projectId', 'sourceApp'],
      ...['sourceAuthor.email', 'sourceAuthor.externalId', 'sourceAuthor.name', 'sourceDeepLink', 'sourceRevision'],
      'walkthroughDate',
    ]);
  });

  it.each([
    ['2147483648', 2147483648],
    ['0', 0],
    ['a fraction', 1.5],
    ['text', '1'],
    ['null', null],
  ])('for the revision %s (PRP-18)', async (_, sourceRevision) => {
    const answer = await A.send('POST', PATH, request({ sourceRevision }));
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors).toMatchObject([{ fieldName: 'sourceRevision' }]);
  });

  it('takes the highest revision (PRP-18)', async () => {
    expect(await A.sendOk('POST', PATH, request({ sourceRevision: 2147483647 }))).toMatchObject({
      sourceRevision: 2147483647,
    });
  });

  it('refuses an instant that an offset carries out of the years that can be stored', async () => {
    for (const walkthroughDate of ['0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00']) {
      expect((await A.send('POST', PATH, request({ walkthroughDate }))).statusCode).toBe(400);
    }
  });

  it('reports a mapped user that is not a member of the builder (PRP-13)', async () => {
    const answer = await A.send('POST', PATH, request({ mappedAdminUserId: 'user_nobody' }));
    expect(answer.json().errors).toMatchObject([{ fieldName: 'mappedAdminUserId' }]);
  });

  it('comes before a conflict, and after the replay of a stored revision (PRP-3, PRP-13)', async () => {
    const body = request({ sourceRevision: 2 });
    await A.sendOk('POST', PATH, body);
    const unknown = { mappedAdminUserId: 'user_nobody', sourceDeepLink: 'unheard-of://report' };
    for (const [sender, sourceRevision] of [
      [A, 1],
      [A, 2],
      [C, 3],
    ] as const) {
      const answer = await sender.send('POST', PATH, { ...body, ...unknown, sourceRevision });
      expect([answer.statusCode, answer.json().errors]).toMatchObject([
        400,
        [{ fieldName: 'mappedAdminUserId' }, { fieldName: 'sourceDeepLink' }],
      ]);
    }
    expect(await A.sendOk('POST', PATH, body)).toMatchObject({ idempotent: true });
  });
});

describe('404', () => {
  it('is the answer to a project that is not the builder’s (PRP-12)', async () => {
    expect(conflictOf(await A.send('POST', PATH, request({ projectId: 'proj_none' })))).toEqual([404, 'NOT_FOUND']);
    const foreign = await addProject(service, service.findDemoClient('B').builderIds[0]!);
    const answer = await A.send('POST', PATH, request({ projectId: foreign }));
    expect(conflictOf(answer)).toEqual([404, 'NOT_FOUND']);
  });

  it('is the answer to PATCH of a report that does not exist or is archived (PRP-11)', async () => {
    const body = request();
    expect((await A.send('PATCH', PATH, body)).statusCode).toBe(404);
    await A.sendOk('POST', PATH, body);
    await A.sendOk('PATCH', PATH, withHigherRevision(body));
    await A.sendOk('DELETE', PATH, identityOf(body));
    expect((await A.send('PATCH', PATH, withHigherRevision(body, 2))).statusCode).toBe(404);
    expect((await A.send('PATCH', PATH, withHigherRevision(body))).statusCode).toBe(404);
  });

  it('is the answer to the archiving of a report that does not exist (PRP-17)', async () => {
    expect((await A.send('DELETE', PATH, identityOf(request()))).statusCode).toBe(404);
  });
});

describe('409', () => {
  it('STALE_REVISION: a lower revision, of whatever content (PRP-5)', async () => {
    const body = request({ sourceRevision: 5 });
    await A.sendOk('POST', PATH, body);
    expect(conflictOf(await A.send('POST', PATH, withHigherRevision(body, -1)))).toEqual([409, 'STALE_REVISION']);
  });

  it('REVISION_CONFLICT: the same revision, other content (PRP-4)', async () => {
    const body = request();
    await A.sendOk('POST', PATH, body);
    const other = await A.send('POST', PATH, { ...body, page: page() });
    expect(conflictOf(other)).toEqual([409, 'REVISION_CONFLICT']);
    expect(Object.keys(other.json()).toSorted()).toEqual(['code', 'message']);
  });

  it('SOURCE_OWNERSHIP_REQUIRED: another integrator, whatever it sends (PRP-1)', async () => {
    const body = request();
    await A.sendOk('POST', PATH, body);
    for (const other of [body, withHigherRevision(body), withHigherRevision(body, 1, { projectId: 'proj_none' })]) {
      expect(conflictOf(await C.send('POST', PATH, other))).toEqual([409, 'SOURCE_OWNERSHIP_REQUIRED']);
      expect(conflictOf(await C.send('PATCH', PATH, other))).toEqual([409, 'SOURCE_OWNERSHIP_REQUIRED']);
    }
    expect(conflictOf(await C.send('DELETE', PATH, identityOf(body)))).toEqual([409, 'SOURCE_OWNERSHIP_REQUIRED']);
  });

  // PRP-14
  it('ATTACHMENT_CONFLICT: a photo that is unknown, archived, another builder’s or in another project, naming its block', async () => {
    const archived = await addPhoto(service, A.builderId, projectId);
    await archivePhoto(service, archived);
    const [foreignBuilder] = await sql('select id from builder where id <> ?', [A.builderId]);
    const foreign = await addPhoto(service, foreignBuilder.id);
    const elsewhere = await addPhoto(service, A.builderId, otherProjectId);
    for (const photo of ['att_none', archived, foreign, elsewhere]) {
      const inner = page([blocks.text('b'), blocks.image('broken', photo)]);
      const answer = await A.send('POST', PATH, request({ projectId, page: page([blocks.page('a', inner)]) }));
      expect(conflictOf(answer)).toEqual([409, 'ATTACHMENT_CONFLICT']);
      expect(answer.json().message).toContain('page.blocks[0].childPage.blocks[1].attachmentId');
      expect(answer.json().message).toContain(photo);
    }
    // Without a project of its own the report may show photos of any.
    await A.sendOk('POST', PATH, request({ page: page([blocks.image('a', elsewhere)]) }));
  });

  it('leaves what is stored as it was (PRP-15)', async () => {
    const body = request({ page: page([blocks.text('a')]) });
    const { photoReportId } = await A.sendOk('POST', PATH, body);
    const before = await sql('select * from photo_report where id = ?', [photoReportId]);
    await A.send('POST', PATH, withHigherRevision(body, 1, { page: page([blocks.image('a', 'att_none')]) }));
    await A.send('POST', PATH, { ...body, page: page() });
    expect(await sql('select * from photo_report where id = ?', [photoReportId])).toEqual(before);
  });
});

describe('archiving', () => {
  // PRP-3, PRP-6, PRP-16, PRP-17
  it('is idempotent, takes its fields from the body or the query, and is undone by a higher revision alone', async () => {
    const body = request({ sourceRevision: 3 });
    const { photoReportId, pageId } = await A.sendOk('POST', PATH, body);
    const { sourceApp, sourceExternalId } = body;
    const query = new URLSearchParams({ sourceApp, sourceExternalId, sourceRevision: '2' });
    expect(conflictOf(await A.send('DELETE', `${PATH}?${query}`))).toEqual([409, 'STALE_REVISION']);
    query.set('sourceRevision', '3');
    const archived = await A.sendOk('DELETE', `${PATH}?${query}`);
    expect(archived).toEqual({
      ...{ status: 'archived', idempotent: false, photoReportId, pageId, sourceRevision: 3 },
      archivedAt: new Date(service.clock.now()).toISOString(),
    });
    service.clock.advance(1_000);
    const again = await A.sendOk('DELETE', PATH, { ...identityOf(body), sourceRevision: 9 });
    expect(again).toEqual({ ...archived, idempotent: true });
    expect(await A.sendOk('POST', PATH, body)).toMatchObject({ idempotent: true });
    expect(await sql('select archived_at from photo_report where id = ?', [photoReportId])).not.toEqual([
      { archived_at: null },
    ]);
    expect(conflictOf(await A.send('POST', PATH, withHigherRevision(body, -1)))).toEqual([409, 'STALE_REVISION']);
    const restored = await A.sendOk('POST', PATH, withHigherRevision(body));
    expect(restored).toEqual({ status: 'partial', idempotent: false, photoReportId, pageId, sourceRevision: 4 });
    expect(await sql('select archived_at from photo_report where id = ?', [photoReportId])).toEqual([
      { archived_at: null },
    ]);
  });

  it('wants to know which report (PRP-16)', async () => {
    const answer = await A.send('DELETE', PATH, { sourceApp: 'x'.repeat(81), sourceRevision: 0 });
    expect(answer.statusCode).toBe(400);
    expect(
      answer
        .json()
        .errors.map(({ fieldName }: Json) => fieldName)
        .toSorted(),
    ).toEqual([...['sourceApp', 'sourceExternalId', 'sourceRevision']]);
  });
});

describe('deep links', () => {
  const send = (sourceDeepLink: string) => A.send('POST', PATH, request({ sourceDeepLink }));

  it.each([
    'https://notes.example/walks/1',
    'HTTPS://notes.example:8443/a%20b/(c)',
    `https://notes.example/${'x'.repeat(1_000 - 22)}`,
  ])('takes %.60s (PRP-21)', async (link) => expect((await send(link)).statusCode).toBe(200));

  it.each([
    ['', 'is empty'],
    [`https://notes.example/${'x'.repeat(1_001 - 22)}`, 'is too long'],
    ['notes.example/walks', 'has no scheme'],
    ['http://notes.example/', 'is not HTTPS'],
    ['https:notes.example', 'has no //'],
    ['https:///walks', 'has no host'],
    ['https://user@notes.example/', 'has a user'],
    ['https://user:pass@notes.example/', 'has credentials'],
    ['https://notes.example/?a=1', 'has a query'],
    ['https://notes.example/?', 'has an empty query'],
    ['https://notes.example/#a', 'has a fragment'],
    ['https://notes.example/#', 'has an empty fragment'],
    ['https://notes.example/a b', 'has a space'],
    ['https://notes.example\\@evil.example/', 'has a backslash'],
    ['javascript:alert(1)', 'is a script'],
    ['sitenotes://walks/1', 'has a scheme that is not permitted'],
  ])('refuses %.60s: it %s (PRP-21)', async (link) => {
    const answer = await send(link);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors).toMatchObject([{ fieldName: 'sourceDeepLink' }]);
  });

  // PRP-21
  it('takes a scheme that the operator has permitted to the integrator, and never one that a browser runs', async () => {
    await sql(`update integrator set deep_link_schemes = '{sitenotes,javascript}' where id = ?`, [
      createIntegratorId('A'),
    ]);
    expect((await send('SiteNotes://walks/1')).statusCode).toBe(200);
    expect((await send('sitenotes:walks/1')).statusCode).toBe(200);
    for (const link of ['sitenotes://me@walks/1', 'sitenotes://walks?x=1', 'javascript:alert(1)']) {
      expect((await send(link)).statusCode, link).toBe(400);
    }
    const other = await C.send('POST', PATH, request({ sourceDeepLink: 'sitenotes://walks/1' }));
    expect(other.statusCode).toBe(400);
  });
});
