import { beforeAll, describe, expect, it } from 'vitest';
import { createBuilderClient, useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';
import { blocks, createPageOfEveryBlock, item, type Json, page, request, toRichText } from './documents.ts';
import { addPhoto, archivePhoto } from './photo-rows.ts';

const PATH = '/photo-reports/sync';

const service = useService();
const A = useBuilderClient(service, 'A');
let projectId: string;

beforeAll(async () => {
  projectId = await addProject(service, A.builderId);
});

const RUNS = 'richText { text marks }';
const BLOCKS = `blocks { __typename
  ... on ReportText { sourceBlockId type properties ${RUNS} }
  ... on ReportHeading { sourceBlockId level ${RUNS} }
  ... on ReportList { type items { id depth checked ${RUNS} } }
  ... on ReportImage { imageStatus attachmentId captureSequenceId imageFailure { code message } photo { id imageUrl } }`;
const LEVEL = (inner: string) => `id path title ${BLOCKS} ... on ReportChildPage { childPage { ${inner} } } }`;
const TREE = LEVEL(LEVEL(LEVEL(LEVEL('id'))));

const ONE = `query ($b: BuilderId!, $r: PhotoReportId!) { photoReport(builderId: $b, photoReportId: $r) {
  id sourceApp sourceRevision status title archivedAt sourceAuthor { externalId name email } project { id } page { ${TREE} } } }`;
const LIST = `query ($b: BuilderId!, $p: ProjectId, $archived: Boolean, $id: ReportExternalId) {
  photoReports(builderId: $b, projectId: $p, archived: $archived, sourceExternalId: $id) {
    meta { totalCount } data { id page { ${TREE} } } } }`;

async function graphql(query: string, variables: object): Promise<Json> {
  const { data, errors } = await service.graphql(A.token, query, { b: A.builderId, ...variables });
  expect(errors).toBeUndefined();
  return data;
}

describe('photoReport', () => {
  it('returns the tree with defaults for absent fields and signed photo URLs (PRP-37)', async () => {
    const photo = await addPhoto(service, A.builderId, projectId);
    const body = request({ projectId, page: page([...createPageOfEveryBlock().blocks, blocks.image('image', photo)]) });
    const { photoReportId, pageId } = await A.sendOk('POST', PATH, body);
    const { photoReport } = await graphql(ONE, { r: photoReportId });
    expect(photoReport).toMatchObject({
      ...{ id: photoReportId, sourceApp: 'site-notes', sourceRevision: 1, status: 'partial', title: 'Site walk' },
      ...{ archivedAt: null, sourceAuthor: body.sourceAuthor, project: { id: projectId } },
      page: { id: pageId, path: [], title: 'Site walk' },
    });
    const [heading, text, bullets, numbers, checks, failed, child, image] = photoReport.page.blocks;
    expect(heading).toMatchObject({
      __typename: 'ReportHeading',
      level: 1,
      richText: [{ text: 'Slab edge', marks: [] }],
    });
    expect(text.richText).toEqual([
      { text: 'Edge protection ', marks: [] },
      { text: 'missing', marks: ['BOLD', 'ITALIC'] },
    ]);
    expect(bullets).toMatchObject({ type: 'BULLETED_LIST', items: [{ depth: 0 }, { depth: 6, checked: null }] });
    expect(numbers).toMatchObject({ type: 'ORDERED_LIST', items: [{ id: 'a', depth: 0 }] });
    expect(checks.items).toMatchObject([{ checked: true }]);
    expect(failed).toMatchObject({
      imageStatus: 'FAILED',
      attachmentId: null,
      photo: null,
      imageFailure: { code: 'UPLOAD_FAILED' },
    });
    expect(child.childPage).toMatchObject({ id: expect.stringMatching(/^page_/), path: ['child'] });
    expect(image).toMatchObject({
      attachmentId: photo,
      photo: { id: photo, imageUrl: expect.stringContaining('signature=') },
    });
  });

  it('returns null for an archived photo (PRP-37)', async () => {
    const photo = await addPhoto(service, A.builderId);
    const { photoReportId } = await A.sendOk('POST', PATH, request({ page: page([blocks.image('image', photo)]) }));
    await archivePhoto(service, photo);
    const { photoReport } = await graphql(ONE, { r: photoReportId });
    expect(photoReport.page.blocks[0]).toMatchObject({ attachmentId: photo, photo: null });
  });

  it('is 404 for a report of another builder (PRP-36)', async () => {
    const B = await createBuilderClient(service, 'B');
    const { photoReportId } = await A.sendOk('POST', PATH, request());
    const { errors } = await service.graphql(B.token, ONE, { b: B.builderId, r: photoReportId });
    expect(errors![0]!.extensions).toMatchObject({ code: 'NOT_FOUND', http: { status: 404 } });
  });

  it('requires read:photos to read and write:photos to sync (PRP-36)', async () => {
    const { photoReportId } = await A.sendOk('POST', PATH, request());
    const writer = await service.tokenOf('A', ['write:photos']);
    const { errors } = await service.graphql(writer, ONE, { b: A.builderId, r: photoReportId });
    expect(errors![0]!.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
  });
});

describe('photoReports', () => {
  it('lists active or archived reports, of a project or all (PRP-36)', async () => {
    const body = request({ projectId });
    const { photoReportId } = await A.sendOk('POST', PATH, body);
    const idsWhere = async (variables: object) => {
      const { photoReports } = await graphql(LIST, { id: body.sourceExternalId, ...variables });
      return photoReports.data.map(({ id }: Json) => id);
    };
    expect(await idsWhere({})).toEqual([photoReportId]);
    expect(await idsWhere({ p: projectId })).toEqual([photoReportId]);
    expect(await idsWhere({ p: 'proj_none' })).toEqual([]);
    expect(await idsWhere({ archived: true })).toEqual([]);
    await A.sendOk('DELETE', PATH, { sourceApp: body.sourceApp, sourceExternalId: body.sourceExternalId });
    expect(await idsWhere({})).toEqual([]);
    expect(await idsWhere({ archived: true })).toEqual([photoReportId]);
  });

  it('needs the same number of statements for many reports, pages and photos as for one', async () => {
    const photosOf = (count: number) =>
      Promise.all(Array.from({ length: count }, () => addPhoto(service, A.builderId)));
    const sync = async (photos: string[]) => {
      const images = photos.map((photo, at) => blocks.image(`i${at}`, photo));
      const inner = page([...images, blocks.list('l', [item('a')]), blocks.text('t', toRichText('x'))]);
      const deep = page([blocks.page('one', page([blocks.page('two', inner)])), ...images]);
      return (await A.sendOk('POST', PATH, request({ page: deep }))).photoReportId;
    };
    const small = await sync(await photosOf(1));
    const large = await sync(await photosOf(120));
    const statements = (query: string, variables: object) =>
      service.countStatements('au1', () => graphql(query, variables));
    await graphql(ONE, { r: small });
    const one = await statements(ONE, { r: small });
    // One more statement reads the large content on a separate connection.
    expect(await statements(ONE, { r: large })).toBe(one + 1);
    for (let more = 0; more < 10; more++) await sync(await photosOf(3));
    expect(await statements(LIST, {})).toBeLessThanOrEqual(one + 1);
  });

  it('accepts all filters together, in a statement whose name PostgreSQL does not truncate', async () => {
    const names = new Set<string>();
    const end = service.databases.au1.onStatement(({ name }) => names.add(name));
    const query = `query ($b: BuilderId!, $p: ProjectId, $app: ReportSourceApp, $id: ReportExternalId, $archived: Boolean) {
      photoReports(builderId: $b, projectId: $p, sourceApp: $app, sourceExternalId: $id, archived: $archived) {
        meta { totalCount } } }`;
    const { photoReports } = await graphql(query, { p: projectId, app: 'site-notes', id: 'nobody', archived: true });
    end();
    expect(photoReports.meta.totalCount).toBe(0);
    expect([...names].filter((name) => name.length > 63)).toEqual([]);
    expect(names.size).toBeGreaterThan(0);
  });
});
