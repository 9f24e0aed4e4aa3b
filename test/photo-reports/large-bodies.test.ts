import { request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, canonicalJsonBytes, createFingerprint } from '../../src/domain/canonical-json.ts';
import { MAX_LARGE_TOKENS } from '../../src/http/bodies/body-task.ts';
import { type BuilderClient, useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { blocks, item, type Json, page, request } from './documents.ts';

const MEBIBYTE = 1024 * 1024;
const PATH = '/photo-reports/sync';

const service = useService();
const A = useBuilderClient(service, 'A');
const C = useBuilderClient(service, 'C');

useLongerTimeLimits();
beforeAll(async () => {
  await (service.app as FastifyInstance).listen({ port: 0, host: '127.0.0.1' });
});

const longText = [{ text: 'é'.repeat(20_000) }];
const items = () => Array.from({ length: 30 }, (_, at) => item(`${at}`, { richText: longText }));
/** A valid page of more than 1 MiB. */
const createLargePage = () =>
  page([blocks.list('l', items()), blocks.page('child', page([blocks.failed('f')])), blocks.text('t')]);
/** A valid page of less than 1 MiB and of more values than are checked on the event loop. */
const createDensePage = () =>
  page([
    blocks.list(
      'l',
      Array.from({ length: 100 }, (_, at) => item(`${at}`, { richText: Array(60).fill({ text: '' }) })),
    ),
  ]);
/** The request with free-form JSON in its page that `JSON.stringify` would take long to write. */
const withMetadata = (metadata: string, more: object = {}) =>
  JSON.stringify(request({ page: page([], { contentMetadata: 'HERE' }), ...more })).replace('"HERE"', metadata);

const SYNC = `mutation ($builderId: BuilderId!, $sourceApp: ReportSourceApp!, $sourceExternalId: ReportExternalId!,
    $sourceRevision: SourceRevision!, $sourceCreatedAt: SourceInstant!, $walkthroughDate: SourceInstant!,
    $sourceAuthor: SourceAuthorInput!, $page: PageDocumentInput!, $mappedAdminUserId: ReportUserId, $sourceDeepLink: DeepLink) {
  syncPhotoReport(builderId: $builderId, sourceApp: $sourceApp, sourceExternalId: $sourceExternalId, sourceRevision: $sourceRevision,
    sourceCreatedAt: $sourceCreatedAt, walkthroughDate: $walkthroughDate, sourceAuthor: $sourceAuthor, page: $page, mappedAdminUserId: $mappedAdminUserId, sourceDeepLink: $sourceDeepLink) {
    status idempotent
  }
}`;

interface ReportResponse {
  status: number;
  data?: Json;
  errors?: { fieldName: string; message: string }[];
}

async function post(
  url: string,
  payload: string,
  { token }: BuilderClient,
): Promise<{ statusCode: number; body: Json }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await service.request({ method: 'POST', url, headers, payload });
  return { statusCode: answer.statusCode, body: answer.json() };
}
const sendRest = async (report: string, client = A): Promise<ReportResponse> => {
  const { statusCode: status, body } = await post(`/builders/${client.builderId}${PATH}`, report, client);
  return status === 200 ? { status, data: body } : { status, errors: body.errors };
};
const sendGraphql = async (report: string, client = A, query = SYNC): Promise<ReportResponse> => {
  const variables = report.replace('{', `{"builderId":"${client.builderId}",`);
  const { body } = await post('/graphql', `{"query":${JSON.stringify(query)},"variables":${variables}}`, client);
  if (!body.errors) return { status: 200, data: body.data.syncPhotoReport };
  const { http, errors } = body.errors[0].extensions;
  return { status: http.status, errors };
};
const interfaces = [
  ['REST', sendRest],
  ['GraphQL', sendGraphql],
] as const;

/** Returns the number of bodies parsed on the event loop and in the worker thread. */
async function countParsedBodies(): Promise<{ eventLoop: number; worker: number }> {
  const { body } = await service.request({ url: '/metrics' });
  const of = (thread: string) => Number(new RegExp(`parsed_bodies_total{thread="${thread}"} (\\d+)`).exec(body)![1]);
  return { eventLoop: of('event_loop'), worker: of('worker') };
}

async function readStored({ sourceExternalId }: Json): Promise<Json> {
  const [row] = (await service.databases.au1.fork().execute(
    `select fingerprint, title, content, (select count(*)::int from photo_report_page p where p.report_id = r.id) as pages
     from photo_report r where source_external_id = ?`,
    [sourceExternalId],
  )) as Json[];
  return row;
}

describe.each(interfaces)('a valid report through %s', (_face, send) => {
  it.each([
    ['of more than 1 MiB', createLargePage],
    ['of many values', createDensePage],
  ])('%s is parsed only in the worker thread, and stored unchanged', async (_size, createPage) => {
    const { id: mappedAdminUserId } = service.findDemoUser(({ builderIds }) => builderIds.includes(A.builderId));
    const body = request({ page: createPage(), mappedAdminUserId, sourceDeepLink: 'https://a.example/walks/1' });
    const before = await countParsedBodies();
    const answer = await send(JSON.stringify(body));
    expect(answer).toMatchObject({ status: 200, data: { idempotent: false } });
    const after = await countParsedBodies();
    expect([after.eventLoop - before.eventLoop, after.worker - before.worker]).toEqual([0, 1]);
    const { sourceRevision: _, ...content } = body;
    const stored = await readStored(body);
    expect(stored.fingerprint).toBe(createFingerprint(canonicalJson(content)));
    expect(canonicalJson(stored.content)).toBe(canonicalJson(content));
    expect(stored.title).toBe(body.page.title);
  });

  it('is partial with a failed image, and has the pages of its tree (PRP-7)', async () => {
    const body = request({ page: createLargePage() });
    expect(await send(JSON.stringify(body))).toMatchObject({ status: 200, data: { status: 'partial' } });
    expect(await readStored(body)).toMatchObject({ pages: 2 });
  });

  it('has the same content through the other API and on the event loop (PRP-35)', async () => {
    const body = request({ page: page([blocks.text('t')]) });
    const spaces = ' '.repeat(MEBIBYTE);
    expect(await send(JSON.stringify(body))).toMatchObject({ status: 200, data: { idempotent: false } });
    for (const [, other] of interfaces) {
      const large = JSON.stringify(body).replace('{', `{${spaces}`);
      expect(await other(large)).toMatchObject({ status: 200, data: { idempotent: true } });
    }
  });
});

describe.each(interfaces)('an invalid report of more than 1 MiB through %s', (_face, send) => {
  it('is 400 with the path of each invalid field', async () => {
    const wrong = page([blocks.list('l', items()), blocks.heading('h', 7), blocks.image('i', 'photo')]);
    const { status, errors } = await send(JSON.stringify(request({ sourceRevision: 0, page: wrong })));
    expect(status).toBe(400);
    const names = ['sourceRevision', 'page.blocks[1].properties.level', 'page.blocks[2].attachmentId'];
    expect(errors!.map(({ fieldName }) => fieldName)).toEqual(names);
  });

  it('is 400 with a hundred errors at most', async () => {
    const wrong = JSON.stringify(request({ page: 'HERE' })).replace('"HERE"', `{"blocks":[${'5,'.repeat(MEBIBYTE)}5]}`);
    const { status, errors } = await send(wrong);
    expect([status, errors!.length]).toEqual([400, 100]);
  });

  it('is 400 on body for JSON that cannot be parsed', async () => {
    const whole = JSON.stringify(request({ page: createLargePage() }));
    const { status, errors } = await send(whole.replace('"schemaVersion"', 'schemaVersion'));
    expect([status, errors]).toEqual([400, [{ fieldName: 'body', message: 'must be valid JSON' }]]);
  });

  it('is 400 on body for more values and names than a report can have, with the count and the limit (LIM-11, PRP-34)', async () => {
    const { status, errors } = await send(withMetadata(`{"a":[${'{},'.repeat(MAX_LARGE_TOKENS / 2)}{}]}`));
    expect(status).toBe(400);
    expect(errors).toEqual([
      { fieldName: 'body', message: expect.stringMatching(`at most ${MAX_LARGE_TOKENS} .* it has \\d{7}`) },
    ]);
  });

  it('is 400 on a field other than the page that is large', async () => {
    const text = 'a'.repeat(MEBIBYTE);
    const { status, errors } = await send(JSON.stringify(request({ sourceApp: text })));
    expect([status, errors]).toMatchObject([
      400,
      [{ fieldName: 'sourceApp', message: 'must have at most 65536 characters of JSON' }],
    ]);
  });
});

describe.each(interfaces)('a body with text that cannot be stored, through %s,', (_, send) => {
  const unclean = (page: Json, more: object = {}) =>
    JSON.stringify(
      request({ sourceApp: '\0', sourceRevision: 0, page: { ...page, title: '\ud800', color: 1 }, ...more }),
    );

  it.each([
    ['small', page()],
    ['dense', createDensePage()],
    ['large', createLargePage()],
  ])('is 400 with every field that is wrong: a %s page (ERR-1, ERR-9, PRP-32)', async (_size, inner) => {
    const { status, errors } = await send(unclean(inner));
    expect([status, errors!.map(({ fieldName }) => fieldName).sort()]).toEqual([
      400,
      ['page.color', 'page.title', 'sourceApp', 'sourceRevision'],
    ]);
  });

  it('is 400 with the fields that are too large (ERR-1)', async () => {
    const { status, errors } = await send(unclean(page(), { sourceDeepLink: 'a'.repeat(MEBIBYTE) }));
    expect(status).toBe(400);
    expect(errors!.map(({ fieldName }) => fieldName).sort()).toEqual([
      ...['page.color', 'page.title', 'sourceApp', 'sourceDeepLink'],
    ]);
  });
});

describe('a large GraphQL body', () => {
  it('is 400 when a page within a page is a variable of its own', async () => {
    const nested = SYNC.replace(
      'page: $page,',
      'page: { schemaVersion: 1, title: "a", blocks: [{ sourceBlockId: "b", type: PAGE, properties: {}, childPage: $page }] },',
    );
    const { status, errors } = await sendGraphql(JSON.stringify(request({ page: createLargePage() })), A, nested);
    expect([status, errors!.map(({ fieldName }) => fieldName)]).toEqual([400, ['page.blocks[0].childPage']]);
  });

  it('is 400 when its document is large', async () => {
    const query = `${SYNC} # ${'a'.repeat(MEBIBYTE)}`;
    const { status, errors } = await sendGraphql(JSON.stringify(request()), A, query);
    expect([status, errors!.map(({ fieldName }) => fieldName)]).toEqual([400, ['query']]);
  });

  it('of many values is 400 on body for an operation that takes none', async () => {
    const body = { query: '{ builders { meta { limit } } }', variables: { unused: Array(60_000).fill(0) } };
    const answer = await post('/graphql', JSON.stringify(body), A);
    expect(answer.body.errors[0].extensions).toMatchObject({ http: { status: 400 }, errors: [{ fieldName: 'body' }] });
  });

  it('may sync one page into two reports', async () => {
    const body = request({ page: createLargePage() });
    const one = /syncPhotoReport\([\s\S]*\}/.exec(SYNC)![0].replace(/\}\s*\}$/, '}');
    const both = SYNC.replace(
      one,
      `one: ${one} two: ${one.replace('$sourceExternalId', `"${body.sourceExternalId}-2"`)}`,
    );
    expect(await sendGraphql(JSON.stringify(body), A, both)).toMatchObject({ status: 200 });
    for (const sourceExternalId of [body.sourceExternalId, `${body.sourceExternalId}-2`]) {
      const { sourceRevision: _, ...content } = { ...body, sourceExternalId };
      expect((await readStored(content)).fingerprint).toBe(createFingerprint(canonicalJson(content)));
    }
  });
});

describe('a share whose memory for large bodies is in use', () => {
  it('gets 429 with Retry-After beyond its waiting requests, while another share is served', async () => {
    const { port } = service.app.server.address() as AddressInfo;
    const slow = (bytes: number) => {
      const socket = connect(port, '127.0.0.1');
      const head = [
        `POST /builders/${A.builderId}${PATH} HTTP/1.1`,
        'Host: a',
        `Authorization: Bearer ${A.token}`,
        'Content-Type: application/json',
      ];
      socket.write(`${head.join('\r\n')}\r\nContent-Length: ${bytes}\r\n\r\n{`);
      const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
      return { socket, answer };
    };
    // Two fill the share, 24 may wait: of two more, one is rejected at once.
    const uploads = [32 * MEBIBYTE, 32 * MEBIBYTE, ...Array(26).fill(2 * MEBIBYTE)].map(slow);
    const rejected = await Promise.race(uploads.map(({ answer }) => answer));
    expect(rejected).toMatch(/^HTTP\/1.1 429 /);
    expect(rejected).toMatch(/\r\nretry-after: \d+\r\n/i);
    expect(rejected).toContain('"RATE_LIMITED"');
    expect(await sendRest(JSON.stringify(request({ page: createLargePage() })), C)).toMatchObject({ status: 200 });
    for (const { socket } of uploads) socket.destroy();
    // Their memory is released when the service notices the closed connections.
    const again = async () => (await sendRest(JSON.stringify(request({ page: createLargePage() })))).status;
    await expect.poll(again, { timeout: 60_000 }).toBe(200);
  });
});

/** Requests of this database that wait for an advisory lock. */
async function countWaiting(): Promise<number> {
  const [row] = (await service.databases.au1
    .fork()
    .execute(`select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`)) as Json[];
  return row.n;
}

/** Runs the work in a transaction that holds the lock of the report. */
const whileLocked = <T>({ sourceApp, sourceExternalId }: Json, work: () => Promise<T>): Promise<T> =>
  service.databases.au1.writer.run(async (transaction) => {
    const lock = JSON.stringify(['photo-report', A.builderId, sourceApp, sourceExternalId]);
    await transaction.query([{ name: '', text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))' }, [lock]]);
    return work();
  });

describe('a large sync whose client goes away', () => {
  it('counts towards the memory of its share until it has been processed', async () => {
    const server = service.app.server as Server;
    const { port } = server.address() as AddressInfo;
    const usedMemory = async () => {
      const { body } = await service.request({ url: '/metrics' });
      return Number(/share_used_ratio\{limit="memory"\} (\S+)/.exec(body)![1]);
    };
    const body = request({ page: createLargePage() });
    const payload = JSON.stringify(body);
    await expect.poll(usedMemory).toBe(0);
    await whileLocked(body, async () => {
      const headers = { authorization: `Bearer ${A.token}`, 'content-type': 'application/json' };
      const sent = httpRequest({ port, method: 'POST', path: `/builders/${A.builderId}${PATH}`, headers });
      sent.on('error', () => undefined).end(payload);
      await expect.poll(countWaiting).toBe(1);
      sent.destroy();
      await expect.poll(() => promisify(server.getConnections.bind(server))()).toBe(0);
      expect(await usedMemory()).toBeGreaterThan(0);
    });
    await expect.poll(usedMemory).toBe(0);
    expect(await readStored(body)).toMatchObject({ title: body.page.title });
  });
});

describe('syncs that wait for a lock', () => {
  it('delay those of their own share only, through REST and GraphQL', async () => {
    const body = JSON.stringify(request({ page: page() }));
    const syncs = await whileLocked(JSON.parse(body), async () => {
      const sent = Array.from({ length: 12 }, (_, at) => (at % 2 ? sendRest(body) : sendGraphql(body)));
      await expect.poll(countWaiting).toBe(8);
      for (const [, send] of interfaces)
        expect(await send(JSON.stringify(request({ page: page() })), C)).toMatchObject({ status: 200 });
      expect(await countWaiting()).toBe(8);
      return sent;
    });
    const answers = await Promise.all(syncs);
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(answers.filter(({ data }) => !data.idempotent)).toHaveLength(1);
  });
});

describe('canonical JSON as bytes', () => {
  it('is that of the text, between margins', () => {
    const value = { b: [1, -0, 1e21, { '€': null }, []], a: 'é\n"\u{1F3D7}'.repeat(9_000), c: undefined, d: {} };
    const { buffer, start, end } = canonicalJsonBytes(value, 10);
    expect(Buffer.from(buffer, start, end - start).toString()).toBe(canonicalJson(value));
    expect([start, buffer.byteLength - end >= 10]).toEqual([10, true]);
  });
});
