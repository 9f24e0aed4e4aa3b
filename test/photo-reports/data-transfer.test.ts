import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, createFingerprint } from '../../src/domain/canonical-json.ts';
import { normalizeReportRow } from '../../src/domain/photo-reports/stored-report.ts';
import { type CliHarness, seedBuilders, startCli } from '../cli/cli-harness.ts';
import type { BuilderClient } from '../support/builder-client.ts';
import { createPicture } from '../support/images.ts';
import { createConnectedClient, createDeployment, type Deployment } from './deployments.ts';
import { blocks, createPageOfEveryBlock, item, type Json, page, request } from './documents.ts';

const PATH = '/photo-reports/sync';

let sourceDeployment: Deployment;
let targetDeployment: Deployment;
/** Clients of the owner of the reports and of another integrator, in the first deployment. */
let owner: BuilderClient;
let other: BuilderClient;
let ownerId: string;
let folder: string;
let photo: Json;
let bytes: Buffer;
/** Synced requests by report id. */
const requests = new Map<string, Json>();
let archivedId: string;

beforeAll(async () => {
  [sourceDeployment, targetDeployment] = [await createDeployment(), await createDeployment()];
  await seedBuilders(sourceDeployment.operator);
  await sourceDeployment.operator.databases.au1.fork().execute(
    `insert into project (id, created_at, updated_at, builder_id, status, name, integrations)
        select 'proj_aa', created_at, updated_at, builder_id, status, 'Quay', integrations from project where id = 'proj_a'`,
  );
  const named = (name: string) => sourceDeployment.operator.json(['integrator', 'create', '--name', name]);
  ownerId = (await named('Site Notes')).integratorId;
  owner = await createConnectedClient(sourceDeployment, ownerId);
  other = await createConnectedClient(sourceDeployment, (await named('Other')).integratorId);
  bytes = await createPicture();
  photo = await owner.createPhoto({ imageAttachment: await owner.upload(bytes), projectId: 'proj_aa' });
  const deep = page([blocks.page('one', page([blocks.page('two', createPageOfEveryBlock())]))]);
  for (const more of [
    { page: page([...createPageOfEveryBlock().blocks, blocks.image('photo', photo.id)]), projectId: 'proj_aa' },
    { page: deep, sourceDeepLink: 'https://notes.example/walks/1', sourceCreatedAt: '2026-03-02T18:30:00+11:00' },
    {
      page: {
        ...page(),
        contentMetadata: {
          1e21: [5e-324, -0, 1.0, 0.1, -9007199254740991],
          'é\u{1F3D7}': null,
          ['__proto__']: { a: 1 },
        },
      },
    },
    { page: page([blocks.text('a')]), sourceRevision: 2_147_483_647 },
  ]) {
    const body = request(more);
    requests.set((await owner.sendOk('POST', PATH, body)).photoReportId, body);
  }
  const { sourceApp, sourceExternalId } = [...requests.values()].at(-1);
  ({ photoReportId: archivedId } = await owner.sendOk('DELETE', PATH, { sourceApp, sourceExternalId }));
  folder = await mkdtemp(join(tmpdir(), 'builder-api-reports-'));
  await sourceDeployment.operator.json(['export', join(folder, 'all')]);
});

afterAll(async () => {
  for (const { app, operator } of [sourceDeployment, targetDeployment]) {
    await app.close();
    await operator.close();
  }
  await rm(folder, { recursive: true });
});

async function graphql({ app }: Deployment, { token }: BuilderClient, query: string): Promise<Json> {
  const headers = { authorization: `Bearer ${token}` };
  const { data, errors } = (await app.inject({ method: 'POST', url: '/graphql', headers, payload: { query } })).json();
  expect(errors).toBeUndefined();
  return data;
}

const LEVEL = (inner: string) => `id path title blocks { __typename
  ... on ReportText { sourceBlockId richText { text marks } }
  ... on ReportHeading { sourceBlockId level richText { text marks } }
  ... on ReportList { type items { id depth checked } }
  ... on ReportImage { imageStatus attachmentId imageFailure { code message } photo { id } }
  ... on ReportChildPage { childPage { ${inner} } } }`;
const ALL = (archived: boolean) => `{ photoReports(builderId: "buil_a", archived: ${archived}) { data {
  id createdAt updatedAt sourceRevision status archivedAt request page { ${LEVEL(LEVEL(LEVEL(LEVEL('id'))))} } } } }`;

describe('an export, imported elsewhere', () => {
  let imported: BuilderClient;

  beforeAll(async () => {
    const { problems } = await targetDeployment.operator.json(['import', join(folder, 'all')]);
    expect(problems).toEqual([]);
    imported = await createConnectedClient(targetDeployment, ownerId);
  });

  it('has the same reports: ids, trees, page ids and requests', async () => {
    for (const archived of [false, true]) {
      const expected = await graphql(sourceDeployment, owner, ALL(archived));
      expect(expected.photoReports.data.length).toBeGreaterThan(0);
      expect(await graphql(targetDeployment, imported, ALL(archived))).toEqual(expected);
    }
  });

  it('has the same bytes of photos', async () => {
    const query = `{ photoReports(builderId: "buil_a", projectId: null) { data { page { blocks { ... on ReportImage { photo { imageUrl } } } } } } }`;
    const { photoReports } = await graphql(targetDeployment, imported, query);
    const urls = photoReports.data.flatMap(({ page: { blocks: all } }: Json) =>
      all.flatMap((block: Json) => (block.photo ? [block.photo.imageUrl] : [])),
    );
    expect(urls).toHaveLength(1);
    const { statusCode, rawPayload } = await imported.download(urls[0]);
    expect(statusCode).toBe(200);
    expect(rawPayload.equals(bytes)).toBe(true);
  });

  it('accepts an identical retry of the owner as idempotent, also of an archived report', async () => {
    for (const [photoReportId, body] of requests) {
      expect(await imported.sendOk('POST', PATH, body)).toMatchObject({ idempotent: true, photoReportId });
    }
    const { photoReports } = await graphql(targetDeployment, imported, ALL(true));
    expect(photoReports.data.map(({ id }: Json) => id)).toEqual([archivedId]);
  });

  it('keeps the owner: another integrator gets 409, and a higher revision of the owner keeps the ids', async () => {
    const { integratorId } = await targetDeployment.operator.json(['integrator', 'create', '--name', 'Late']);
    const late = await createConnectedClient(targetDeployment, integratorId);
    const [photoReportId, body] = [...requests][1]!;
    expect((await late.send('POST', PATH, body)).json()).toMatchObject({ code: 'SOURCE_OWNERSHIP_REQUIRED' });
    const next = { ...body, sourceRevision: 2 };
    const [targetResponse, sourceResponse] = [
      await imported.sendOk('POST', PATH, next),
      await owner.sendOk('POST', PATH, next),
    ];
    expect(targetResponse).toEqual({ ...sourceResponse, photoReportId });
    expect(other.builderId).toBe('buil_a');
  });
});

describe('an import', () => {
  /** Has the export without its reports. Not modified: no import of these tests is committed. */
  let withoutReports: CliHarness;

  afterAll(() => withoutReports.close());

  /** Imports the reports of the export with changed rows, expects a failure, and returns the messages. */
  async function importInvalid(
    change: { reports?: (rows: Json[]) => Json[]; pages?: (rows: Json[]) => Json[] },
    ...args: string[]
  ): Promise<[string, number, string, string][]> {
    const changed = await mkdtemp(join(folder, 'changed-'));
    const rewrite = async (name: string, work: (rows: Json[]) => Json[] = (rows) => rows) => {
      const rows = (await readFile(join(folder, 'all', `${name}.ndjson`), 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      await writeFile(
        join(changed, `${name}.ndjson`),
        work(rows)
          .map((row) => `${JSON.stringify(row)}\n`)
          .join(''),
      );
    };
    await rewrite('photo-reports', change.reports);
    await rewrite('photo-report-pages', change.pages);
    const { code, err } = await withoutReports.run(['import', changed, ...args, '--json']);
    const [row] = (await withoutReports.databases.au1
      .fork()
      .execute('select count(*)::int as count from photo_report')) as Json[];
    const { count } = row;
    expect({ code, count }).toEqual({ code: 1, count: 0 });
    return JSON.parse(err).problems.map(({ file, line, field, message }: Json) => [file, line, field, message]);
  }

  /** The row of the report with a photo and a project, changed. */
  const changing = (change: (row: Json) => Json) => ({
    reports: (rows: Json[]) => rows.map((row) => (row.projectId ? { ...row, ...change(row) } : row)),
  });
  const inContent = (more: (content: Json) => object) =>
    changing(({ content }) => {
      const changed = { ...content, ...more(content) };
      return { content: changed, fingerprint: createFingerprint(canonicalJson(changed)) };
    });
  let line: number;

  beforeAll(async () => {
    withoutReports = await startCli();
    const others = join(folder, 'others');
    await cp(join(folder, 'all'), others, { recursive: true, filter: (path) => !/photo-report[^/]*$/.test(path) });
    await withoutReports.json(['import', others]);
    const text = await readFile(join(folder, 'all', 'photo-reports.ndjson'), 'utf8');
    line = text.split('\n').findIndex((row) => row.includes('"projectId":"proj_aa"')) + 1;
  });

  it('validates the page like a sync, with file, line and path in the error', async () => {
    const broken = page([
      blocks.page('a', page([blocks.heading('h', 5), blocks.list('l', [item('i', { color: 1 })])])),
    ]);
    expect(await importInvalid(inContent(() => ({ page: broken })))).toEqual([
      ...[
        ['content.page.blocks[0].childPage.blocks[0].properties.level', 'must be an integer from 1 to 4'],
        [
          'content.page.blocks[0].childPage.blocks[1].properties.items[0].color',
          expect.stringContaining('not a field'),
        ],
      ].map((message) => ['photo-reports.ndjson', line, ...message]),
      ['photo-report-pages.ndjson', expect.any(Number), 'reportId', expect.stringContaining('was rejected')],
      ['photo-report-pages.ndjson', expect.any(Number), 'reportId', expect.stringContaining('was rejected')],
    ]);
  });

  it('validates the rest of the content, and that it has no other field', async () => {
    const changed = {
      sourceApp: 'a'.repeat(81),
      sourceAuthor: { name: 'a' },
      sourceDeepLink: 'javascript:alert(1)',
      sourceRevision: 1,
    };
    const problems = await importInvalid(inContent(() => changed));
    const fields = problems.flatMap(([file, at, field]) =>
      file === 'photo-reports.ndjson' && at === line ? field : [],
    );
    expect(fields.sort()).toEqual(
      ['sourceApp', 'sourceAuthor.externalId', 'sourceDeepLink', 'sourceRevision'].map((field) => `content.${field}`),
    );
  });

  it('verifies the fingerprint', async () => {
    const message = ['photo-reports.ndjson', line, 'fingerprint', 'is not that of the content'];
    const changes = [
      ({ content }: Json) => ({ content: { ...content, sourceCreatedAt: content.walkthroughDate } }),
      () => ({ fingerprint: 'a'.repeat(64) }),
    ];
    for (const change of changes) expect(await importInvalid(changing(change))).toContainEqual(message);
  });

  it('computes the fingerprint of a content with null fields again (PRP-2)', () => {
    const content = { sourceApp: 'a', projectId: null, page: { contentMetadata: { a: null }, blocks: [] } };
    const row: Json = { content, fingerprint: createFingerprint(canonicalJson(content)) };
    normalizeReportRow(row);
    const kept = { sourceApp: 'a', page: { contentMetadata: { a: null }, blocks: [] } };
    expect(row).toEqual({ content: kept, fingerprint: createFingerprint(canonicalJson(kept)) });
    normalizeReportRow(Object.assign(row, { fingerprint: 'a' }));
    expect(row.fingerprint).toBe('a');
  });

  it('rejects each field that differs from the content', async () => {
    const changed = {
      title: 'Another',
      status: 'synced',
      sourceExternalId: 'another',
      projectId: null,
      walkthroughDate: '2026-03-02T07:00:01.000Z',
      sourceAuthor: { externalId: 'author-118', name: 'Another' },
    };
    const problems = await importInvalid(changing(() => changed));
    const expected = Object.keys(changed).map((field) => [
      'photo-reports.ndjson',
      line,
      field,
      'is not what the content says',
    ]);
    expect(problems).toEqual(expect.arrayContaining(expected));
  });

  it('requires each page of the tree under its parent, and accepts additional rows', async () => {
    const isChild = ({ path }: Json) => path[0] === 'one' && path.length === 2;
    for (const args of [[], ['--keep-good']]) {
      const missing = await importInvalid({ pages: (rows) => rows.filter(({ path }) => path[0] !== 'child') }, ...args);
      expect(missing).toEqual([
        ['photo-reports.ndjson', line, 'content.page', expect.stringContaining('has a page at ["child"] that is not')],
      ]);
    }
    const rootless = await importInvalid({
      pages: (rows) => rows.map((row) => (isChild(row) ? { ...row, parentId: null } : row)),
    });
    expect(rootless).toEqual([
      [
        'photo-reports.ndjson',
        expect.any(Number),
        'content.page',
        expect.stringContaining('parentId is not the page around'),
      ],
    ]);
    const digest = await importInvalid({
      pages: (rows) => rows.map((row) => (isChild(row) ? { ...row, pathDigest: createFingerprint('') } : row)),
    });
    expect(digest[0]).toEqual([
      'photo-report-pages.ndjson',
      expect.any(Number),
      'pathDigest',
      'is not that of the path',
    ]);
  });

  it('requires the photos of a report to exist and to belong to its builder', async () => {
    const strange = inContent(({ page: root }) => ({
      page: { ...root, blocks: [...root.blocks, blocks.image('x', 'att_none')] },
    }));
    expect(await importInvalid(strange)).toEqual([
      [
        'photo-reports.ndjson',
        line,
        expect.stringMatching(/^content\.page\.blocks\[\d+\]\.attachmentId$/),
        'att_none is no photo of the builder',
      ],
    ]);
  });
});
