import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import { useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { blocks, type Json, page, request } from './documents.ts';

const MEBIBYTE = 1024 * 1024;

const service = useService({ RATE_LIMIT_SYNC: '20/10' });
const A = useBuilderClient(service, 'A');

const SYNC = `mutation ($builderId: BuilderId!, $sourceApp: ReportSourceApp!, $sourceExternalId: ReportExternalId!,
    $sourceRevision: SourceRevision!, $sourceCreatedAt: SourceInstant!, $walkthroughDate: SourceInstant!,
    $sourceAuthor: SourceAuthorInput!, $page: PageDocumentInput!) {
  FIELD(builderId: $builderId, sourceApp: $sourceApp, sourceExternalId: $sourceExternalId, sourceRevision: $sourceRevision,
    sourceCreatedAt: $sourceCreatedAt, walkthroughDate: $walkthroughDate, sourceAuthor: $sourceAuthor, page: $page) {
    idempotent sourceRevision photoReportId
  }
}`;
const syncWith = (field: string) => SYNC.replace('FIELD', field);

/** Creates a report of about `mib` MiB. */
const createReport = (mebibytes: number) => {
  const text = 'a'.repeat(20_000);
  const many = Math.floor((mebibytes * MEBIBYTE) / 20_100);
  const items = (list: number) =>
    Array.from({ length: 100 }, (_, at) => ({ id: `${list}-${at}`, richText: [{ text }] }));
  return request({
    page: page(Array.from({ length: Math.ceil(many / 100) }, (_, at) => blocks.list(`l${at}`, items(at)))),
  });
};

const post = (body: object | string, token = A.token) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return service.request({ method: 'POST', url: '/graphql', headers, payload: body });
};
const variablesOf = (report: Json) => ({ builderId: A.builderId, ...report });
const readError = (answer: { statusCode: number; json(): Json }) => [
  answer.statusCode,
  answer.json().errors[0].extensions.code,
];
const TOO_LARGE = [413, 'PAYLOAD_TOO_LARGE'];

describe('a GraphQL request', () => {
  it('may be as large as a REST request for a sync, with the same result (LIM-11, PRP-35)', async () => {
    const report = createReport(1.2);
    // Spaces are read fast, and count towards the limit.
    const payload = JSON.stringify({ query: syncWith('syncPhotoReport'), variables: variablesOf(report) });
    const answer = await post(payload + ' '.repeat(31 * MEBIBYTE - payload.length));
    expect(answer.json()).toMatchObject({
      data: { syncPhotoReport: { idempotent: false, sourceRevision: 1, photoReportId: expect.any(String) } },
    });
    expect(await A.sendOk('POST', '/photo-reports/sync', report)).toMatchObject({ idempotent: true });
    const next = { ...report, sourceRevision: 2 };
    const updated = await post({ query: syncWith('updatePhotoReport'), variables: variablesOf(next) });
    expect(updated.json().data.updatePhotoReport).toMatchObject({ idempotent: false, sourceRevision: 2 });
    expect(await A.sendOk('PATCH', '/photo-reports/sync', next)).toMatchObject({ idempotent: true });
  });

  it('is 413 beyond that', async () => {
    expect(
      readError(await post({ query: '{ builders { meta { totalCount } } }', a: 'a'.repeat(32 * MEBIBYTE) })),
    ).toEqual(TOO_LARGE);
  });

  it.each([
    ['a query', '{ builders { meta { totalCount } } }'],
    [
      'another mutation',
      'mutation { archivePhotoReport(builderId: "BUILDER", sourceApp: "a", sourceExternalId: "b") { status } }',
    ],
    [
      'a sync beside another mutation',
      `mutation { archivePhotoReport(builderId: "BUILDER", sourceApp: "a", sourceExternalId: "b") { status } ...on Mutation { __typename } }`,
    ],
  ])('is 413 beyond 1 MiB for %s', async (_, query) => {
    const body = { query: query.replace('BUILDER', A.builderId), variables: { unused: 'a'.repeat(MEBIBYTE) } };
    expect(readError(await post(body))).toEqual(TOO_LARGE);
  });

  it('is 413 beyond 1 MiB for a client that may not sync, before its body is read', async () => {
    const reader = await service.tokenOf('A', ['read:photos']);
    const body = { query: syncWith('syncPhotoReport'), variables: variablesOf(createReport(1.2)) };
    expect(readError(await post(body, reader))).toEqual(TOO_LARGE);
  });

  it('of more than 1 MiB is charged to the budget of syncs once, before its body is read (LIM-2)', async () => {
    service.clock.advance(10_000);
    const sync = { query: syncWith('syncPhotoReport'), variables: variablesOf(createReport(1.2)) };
    const answer = await post(sync);
    expect(answer.json().errors).toBeUndefined();
    expect(answer.headers['x-ratelimit-remaining']).toBe('19');
    const other = { query: '{ builders { meta { totalCount } } }', variables: { unused: 'a'.repeat(MEBIBYTE) } };
    for (let left = 18; left >= 0; left--) {
      const refused = await post(other);
      expect([refused.statusCode, refused.headers['x-ratelimit-remaining']]).toEqual([413, String(left)]);
    }
    expect(readError(await post(sync))).toEqual([429, 'RATE_LIMITED']);
    expect((await post({ query: other.query })).statusCode).toBe(200);
    service.clock.advance(10_000);
  });

  it('without Content-Length has the ordinary limit (LIM-11)', async () => {
    await (service.app as FastifyInstance).listen({ port: 0, host: '127.0.0.1' });
    const { port } = service.app.server.address() as AddressInfo;
    const chunked = (body: string) =>
      new Promise<{ statusCode: number; json(): Json }>((resolve, reject) => {
        const headers = { authorization: `Bearer ${A.token}`, 'content-type': 'application/json' };
        const call = httpRequest({ host: '127.0.0.1', port, path: '/graphql', method: 'POST', headers }, (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (chunk) => {
            text += chunk;
          });
          answer.on('end', () => resolve({ statusCode: answer.statusCode!, json: () => JSON.parse(text) }));
        });
        call.on('error', reject);
        for (let at = 0; at < body.length; at += 65_536) call.write(body.slice(at, at + 65_536));
        call.end();
      });
    const query = '{ builders { meta { totalCount } } }';
    const small = await chunked(JSON.stringify({ query, variables: { unused: 'a'.repeat(MEBIBYTE / 2) } }));
    expect(small.json().data.builders.meta.totalCount).toBeGreaterThan(0);
    const sync = { query: syncWith('syncPhotoReport'), variables: variablesOf(createReport(1.2)) };
    expect(readError(await chunked(JSON.stringify(sync)))).toEqual(TOO_LARGE);
  });
});
