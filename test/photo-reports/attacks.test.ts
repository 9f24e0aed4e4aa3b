import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import { BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { type Service, useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';
import { blocks, item, type Json, page, request } from './documents.ts';
import { addPhoto } from './photo-rows.ts';

const PATH = '/photo-reports/sync';

const service = useService();
/** Two integrators that are connected to the same builder, each through two instances of the service. */
let A: BuilderClient[];
let C: BuilderClient[];

beforeAll(async () => {
  const second = await service.startInstance();
  const through = (app: FastifyInstance, { token, builderId }: BuilderClient) =>
    new BuilderClient({ request: (options: object) => app.inject(options) } as unknown as Service, token, builderId);
  const both = (client: BuilderClient) => [client, through(second, client)];
  A = both(await createBuilderClient(service, 'A'));
  C = both(await createBuilderClient(service, 'C'));
});

const sql = (text: string, values: unknown[] = []) =>
  service.databases.au1.fork().execute(text, values) as Promise<Json[]>;

/** Sends a request with a body of text. */
const sendText = (payload: string) =>
  service.request({
    method: 'POST',
    url: `/builders/${A[0]!.builderId}${PATH}`,
    headers: { authorization: `Bearer ${A[0]!.token}`, 'content-type': 'application/json' },
    payload,
  });

const codeOf = ({ statusCode, json }: { statusCode: number; json(): Json }): string =>
  statusCode === 200 ? (json().idempotent ? 'REPLAY' : 'DONE') : (json().code ?? String(statusCode));
const send = async (client: BuilderClient, method: 'POST' | 'PATCH' | 'DELETE', body: Json) => {
  const answer = await client.send(method, PATH, body);
  return codeOf({ statusCode: answer.statusCode, json: () => answer.json() });
};
const identityOf = ({ sourceApp, sourceExternalId }: Json) => ({ sourceApp, sourceExternalId });

describe('a fingerprint', () => {
  const withMetadata = (body: Json, metadata: string) =>
    JSON.stringify({ ...body, page: { ...body.page, contentMetadata: 'HERE' } }).replace('"HERE"', metadata);
  const outcome = async (text: string) => {
    const answer = await sendText(text);
    return codeOf({ statusCode: answer.statusCode, json: () => answer.json() });
  };

  it.each([
    ['-0 and 0', '{"a":-0}', '{"a":0}'],
    ['1.0, 1e0 and 1', '{"a":[1.0,1e0]}', '{"a":[1,1]}'],
    ['what a double cannot tell apart', '{"a":0.10000000000000000001}', '{"a":0.1}'],
    ['escapes', '{"\\u0061":"\\u00e9\\/"}', '{"a":"é/"}'],
    ['the order of names, whatever a language makes of numbers', '{"10":1,"9":2,"a":3}', '{"a":3,"9":2,"10":1}'],
    ['a name that is sent twice, of which the last counts', '{"a":1,"a":2}', '{"a":2}'],
  ])('is the same for %s (PRP-2)', async (_, one, other) => {
    const body = request({ page: page() });
    expect(await outcome(withMetadata(body, one))).toBe('DONE');
    expect(await outcome(withMetadata(body, other))).toBe('REPLAY');
  });

  it.each([
    ['a composed and a decomposed letter', '{"a":"\u00e9"}', '{"a":"e\u0301"}'],
    ['a ligature and its letters', '{"a":"\ufb01"}', '{"a":"fi"}'],
    ['letters that look alike', '{"a":"a"}', '{"a":"\u0430"}'],
    ['white space at an end', '{"a":"a"}', '{"a":"a "}'],
    ['null and nothing', '{"a":null}', '{}'],
    ['a number and its text', '{"a":1}', '{"a":"1"}'],
    ['the order of a list', '{"a":[1,2]}', '{"a":[2,1]}'],
    ['neighbouring doubles', '{"a":0.1}', '{"a":0.10000000000000002}'],
    ['the ends of what a double holds', '{"a":5e-324}', '{"a":0}'],
  ])('distinguishes %s (PRP-2)', async (_, one, other) => {
    const body = request({ page: page() });
    expect(await outcome(withMetadata(body, one))).toBe('DONE');
    expect(await outcome(withMetadata(body, other))).toBe('REVISION_CONFLICT');
    expect(await outcome(withMetadata(body, one))).toBe('REPLAY');
  });

  it('covers exactly the fields of a request (PRP-2)', async () => {
    const body = request({ page: page([blocks.text('a')]) });
    expect(await send(A[0]!, 'POST', body)).toBe('DONE');
    const extra = { ...body, unknown: 1, sourceAuthor: { ...body.sourceAuthor, phone: '1' } };
    expect(await send(A[0]!, 'POST', extra)).toBe('REPLAY');
    expect(await send(A[0]!, 'POST', { ...body, projectId: null })).toBe('REPLAY');
    for (const more of [
      { sourceCreatedAt: '2026-03-02T07:30:00Z' },
      { page: page([blocks.text('a', [{ text: 'Slab edge', marks: [] }])]) },
      { page: page([blocks.text('a')], { sharingMetadata: {} }) },
    ]) {
      expect(await send(A[0]!, 'POST', { ...body, ...more })).toBe('REVISION_CONFLICT');
    }
  });

  it('is the same through REST and GraphQL (PRP-35)', async () => {
    const body = request({ page: page([blocks.list('l', [item('i', { checked: null, depth: 0 })], 'CHECKLIST')]) });
    expect(await send(A[0]!, 'POST', body)).toBe('DONE');
    const names = Object.keys(body)
      .map((name) => `${name}: $${name}`)
      .join(', ');
    const types = `$sourceApp: ReportSourceApp!, $sourceExternalId: ReportExternalId!, $sourceRevision: SourceRevision!,
      $sourceCreatedAt: SourceInstant!, $walkthroughDate: SourceInstant!, $sourceAuthor: SourceAuthorInput!, $page: PageDocumentInput!`;
    const query = `mutation ($b: BuilderId!, ${types}) { syncPhotoReport(builderId: $b, ${names}) { idempotent } }`;
    const { data, errors } = await service.graphql(A[0]!.token, query, { b: A[0]!.builderId, ...body });
    expect(errors).toBeUndefined();
    expect(data.syncPhotoReport).toEqual({ idempotent: true });
  });
});

describe('a source', () => {
  it('differs from one with similar or concatenated parts (PRP-1)', async () => {
    const body = request({ page: page() });
    const ids = ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9', 'café ', '","', '"]', 'a\u0001b'].map((id) => ({
      ...body,
      sourceExternalId: `${id}${body.sourceExternalId}`,
    }));
    const parts = [
      { ...body, sourceApp: 'a', sourceExternalId: `b:${body.sourceExternalId}` },
      { ...body, sourceApp: 'a:b', sourceExternalId: `:${body.sourceExternalId}` },
    ];
    for (const one of [...ids, ...parts]) expect(await send(A[0]!, 'POST', one)).toBe('DONE');
  });

  it('is distinct for each builder (PRP-1)', async () => {
    const body = request({ page: page() });
    const elsewhere = await createBuilderClient(service, 'A', 1);
    expect(elsewhere.builderId).not.toBe(A[0]!.builderId);
    const [one, other] = [await A[0]!.sendOk('POST', PATH, body), await elsewhere.sendOk('POST', PATH, body)];
    expect([one.idempotent, other.idempotent, one.photoReportId === other.photoReportId]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('the highest revision', () => {
  it('can be repeated and archived, and no revision restores it', async () => {
    const body = request({ sourceRevision: 2_147_483_647, page: page() });
    expect(await send(A[0]!, 'POST', body)).toBe('DONE');
    expect(await send(A[0]!, 'POST', body)).toBe('REPLAY');
    expect(await send(A[0]!, 'DELETE', { ...identityOf(body), sourceRevision: 2_147_483_647 })).toBe('DONE');
    expect(await send(A[0]!, 'POST', body)).toBe('REPLAY');
    expect(await send(A[0]!, 'POST', { ...body, page: page([blocks.text('a')]) })).toBe('REVISION_CONFLICT');
    expect(await send(A[0]!, 'POST', { ...body, sourceRevision: 2_147_483_646 })).toBe('STALE_REVISION');
    const [row] = await sql(
      'select archived_at is not null as archived from photo_report where source_external_id = ?',
      [body.sourceExternalId],
    );
    expect(row).toEqual({ archived: true });
  });
});

describe('concurrent requests on two instances', () => {
  const together = <T>(count: number, work: (at: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, at) => work(at)));

  it('a source that two integrators sync has one owner, and the other gets 409 (PRP-10)', async () => {
    for (let round = 0; round < 5; round++) {
      const body = request({ page: page() });
      const codes = await together(16, (at) =>
        send((at % 2 ? A : C)[(at >> 1) % 2]!, at % 4 > 1 ? 'PATCH' : 'POST', body),
      );
      expect(codes.filter((code) => code === 'DONE')).toHaveLength(1);
      expect(
        codes.filter((code) => !['DONE', 'REPLAY', 'SOURCE_OWNERSHIP_REQUIRED', 'NOT_FOUND'].includes(code)),
      ).toEqual([]);
      const [owners, others] = codes.indexOf('DONE') % 2 === 1 ? [A, C] : [C, A];
      for (const other of others) {
        for (const method of ['POST', 'PATCH', 'DELETE'] as const) {
          const sent = method === 'DELETE' ? identityOf(body) : { ...body, sourceRevision: 9 };
          expect(await send(other, method, sent)).toBe('SOURCE_OWNERSHIP_REQUIRED');
        }
      }
      expect(await send(owners[1]!, 'POST', body)).toBe('REPLAY');
    }
  });

  it('one of several contents wins under one revision, and the highest revision remains (PRP-10)', async () => {
    const body = request({ page: page() });
    const contents = await together(16, (at) =>
      send(A[at % 2]!, 'POST', { ...body, page: page([blocks.text(`t${at}`)]) }),
    );
    expect(contents.toSorted().filter((code) => code !== 'REVISION_CONFLICT')).toEqual(['DONE']);
    const revisions = await together(16, (at) => send(A[at % 2]!, 'POST', { ...body, sourceRevision: at + 2 }));
    expect(revisions.filter((code) => code !== 'DONE' && code !== 'STALE_REVISION')).toEqual([]);
    const [row] = await sql('select source_revision from photo_report where source_external_id = ?', [
      body.sourceExternalId,
    ]);
    expect(row).toEqual({ source_revision: 17 });
  });

  it('archives and restores leave the state of the last one', async () => {
    for (let round = 0; round < 5; round++) {
      const body = request({ page: page([blocks.page('child')]) });
      await A[0]!.sendOk('POST', PATH, body);
      const codes = await together(12, (at) =>
        at % 3 === 0
          ? send(A[at % 2]!, 'DELETE', { ...identityOf(body), sourceRevision: at + 1 })
          : send(A[at % 2]!, at % 3 === 1 ? 'PATCH' : 'POST', { ...body, sourceRevision: at + 2 }),
      );
      expect(codes.filter((code) => !['DONE', 'REPLAY', 'STALE_REVISION', 'NOT_FOUND'].includes(code))).toEqual([]);
      const [row] = await sql(
        `select archived_at is not null as archived, source_revision as revision, source_revision = (content ->> 'sourceRevision')::int as odd,
          (select count(*)::int from photo_report_page p where p.report_id = r.id) as pages
         from photo_report r where source_external_id = ?`,
        [body.sourceExternalId],
      );
      expect(row).toMatchObject({ revision: 13, odd: null, pages: 2 });
      // The next revision restores the report, which can then be archived again.
      expect(await send(A[1]!, 'POST', { ...body, sourceRevision: 14 })).toBe('DONE');
      expect(await send(A[0]!, 'DELETE', identityOf(body))).toBe('DONE');
      expect(await send(A[1]!, 'PATCH', { ...body, sourceRevision: 15 })).toBe('NOT_FOUND');
    }
  });

  it('a photo is either archived or moved, or used by a report, and no request hangs', async () => {
    const [projectId, otherId] = [
      await addProject(service, A[0]!.builderId),
      await addProject(service, A[0]!.builderId),
    ];
    for (let round = 0; round < 10; round++) {
      const photos = await together(4, () => addPhoto(service, A[0]!.builderId, projectId));
      const images = (order: string[]) => page(order.map((photo) => blocks.image(photo, photo)));
      const codes = await together(6, async (at) => {
        if (at === 4)
          return (await A[1]!.send('DELETE', `/photos/${photos[round % 4]}`)).statusCode === 200 ? 'GONE' : '?';
        if (at === 5) {
          await sql('update photo set project_id = ? where id = ?', [otherId, photos[(round + 1) % 4]]);
          return 'MOVED';
        }
        return send(A[at % 2]!, 'POST', request({ projectId, page: images(at % 2 ? photos : photos.toReversed()) }));
      });
      expect(codes.slice(4)).toEqual(['GONE', 'MOVED']);
      expect(codes.slice(0, 4).filter((code) => code !== 'DONE' && code !== 'ATTACHMENT_CONFLICT')).toEqual([]);
      expect(await send(A[0]!, 'POST', request({ projectId, page: images(photos) }))).toBe('ATTACHMENT_CONFLICT');
    }
  });
});

/** The entries of objects in the order of their names, because `toEqual` compares no property `__proto__`. */
const sorted = (value: Json): Json =>
  Array.isArray(value) || value === null || typeof value !== 'object'
    ? value
    : Object.entries(value)
        .sort()
        .map(([name, member]) => [name, sorted(member)]);

describe('names of JavaScript in free-form JSON', () => {
  const ofMetadata = `query ($b: BuilderId!, $r: PhotoReportId!) {
    photoReport(builderId: $b, photoReportId: $r) { request page { contentMetadata } } }`;

  it('are data, `__proto__` included, also in a GraphQL document (ERR-8)', async () => {
    const { builderId, token } = A[0]!;
    const metadata = JSON.parse(
      '{"constructor":{"prototype":{"a":1}},"toString":1,"hasOwnProperty":[],"__proto__":{"a":1,"__proto__":[]}}',
    );
    const block = { ...blocks.text('a'), properties: metadata };
    const body = request({ page: page([block], { contentMetadata: metadata }) });
    expect(await send(A[0]!, 'POST', body)).toBe('DONE');
    expect(await send(A[0]!, 'POST', body)).toBe('REPLAY');
    const identity = [body.sourceApp, body.sourceExternalId];
    const [row] = await service.databases.au1
      .fork()
      .execute('select id from photo_report where source_app = ? and source_external_id = ?', identity);
    const { data } = await service.graphql(token, ofMetadata, { b: builderId, r: row!.id });
    expect(JSON.stringify(sorted(data.photoReport.page.contentMetadata))).toBe(JSON.stringify(sorted(metadata)));
    expect(sorted(data.photoReport.request.page.blocks[0].properties)).toEqual(sorted(metadata));
    const mutation = `mutation ($b: BuilderId!) { syncPhotoReport(builderId: $b, sourceApp: "a", sourceExternalId: "proto",
      sourceRevision: 1, sourceCreatedAt: "2026-03-02T07:30:00Z", walkthroughDate: "2026-03-02T07:30:00Z",
      sourceAuthor: { externalId: "a", name: "b" },
      page: { schemaVersion: 1, title: "a", blocks: [], contentMetadata: { a: METADATA } }) { status photoReportId } }`;
    const sendLiteral = (literal: string) =>
      service.graphql(token, mutation.replace('METADATA', literal), { b: builderId });
    const created = (await sendLiteral('{ __proto__: { a: 1 } }')).data.syncPhotoReport;
    const stored = await service.graphql(token, ofMetadata, { b: builderId, r: created.photoReportId });
    expect(JSON.stringify(stored.data.photoReport.page.contentMetadata)).toBe('{"a":{"__proto__":{"a":1}}}');
    const { errors } = await sendLiteral('['.repeat(70) + ']'.repeat(70));
    expect(errors![0]!.extensions).toMatchObject({
      http: { status: 400 },
      errors: [{ fieldName: expect.stringMatching(/^page\.contentMetadata\.a/) }],
    });
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  it('with the maximum number of levels is stored and returned', async () => {
    const nested = (levels: number): Json => (levels === 0 ? 1 : { a: nested(levels - 1) });
    const at = (levels: number) => request({ page: page([], { contentMetadata: nested(levels) }) });
    // The request and its page are two levels.
    expect(await send(A[0]!, 'POST', at(62))).toBe('DONE');
    const answer = await A[0]!.send('POST', PATH, at(63));
    expect([answer.statusCode, answer.json().errors]).toMatchObject([400, [{ fieldName: 'body' }]]);
  });
});
