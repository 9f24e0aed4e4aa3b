import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { validatePageDocument } from '../../src/domain/photo-reports/page-document.ts';
import { pageSchemas } from '../../src/domain/photo-reports/page-schema.ts';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { type Service, startService } from '../support/harness.ts';
import { CASES } from './corpus.ts';
import { blocks, createPageOfEveryBlock, type Json, nestAtLevel, page, request } from './documents.ts';
import { addPhoto } from './photo-rows.ts';

const pathsOf = (document: Json) => validatePageDocument(document, 'page').map(({ fieldName }) => fieldName);

/** Returns the path of the page at a level of the document that `nestAtLevel` creates. */
const pathAt = (level: number) => `page${'.blocks[0].childPage'.repeat(level - 1)}`;

const LEVELS = [1, 2, 3, 4];

// PRP-22, PRP-25, PRP-26, PRP-27, PRP-28, PRP-29, PRP-30, PRP-31
describe.each(CASES)('$name', ({ page: document, invalidPaths }) => {
  const hasChildren = document?.blocks?.some?.((block: Json) => block?.type === 'PAGE');

  it(`is ${invalidPaths.length === 0 ? 'valid' : 'refused'} in the root page and in nested ones`, () => {
    for (const level of hasChildren ? LEVELS.slice(0, 3) : LEVELS) {
      const expected = invalidPaths.map((path) => `${pathAt(level)}.${path}`);
      expect(pathsOf(nestAtLevel(level, document))).toEqual(expected);
    }
  });
});

describe('blocks in the whole tree', () => {
  const texts = (count: number, prefix = 'b') =>
    Array.from({ length: count }, (_, at) => blocks.text(`${prefix}${at}`));

  it('are at most 500 in one page (PRP-23)', () => {
    expect(pathsOf(page(texts(499)))).toEqual([]);
    expect(pathsOf(page(texts(500)))).toEqual([]);
    expect(pathsOf(page(texts(501)))).toEqual(['page.blocks']);
  });

  it('are at most 500 over several pages (PRP-23)', () => {
    const tree = (inner: number, outer: number) => page([blocks.page('child', page(texts(inner))), ...texts(outer)]);
    expect(pathsOf(tree(249, 250))).toEqual([]);
    expect(pathsOf(tree(250, 250))).toEqual(['page.blocks']);
    expect(pathsOf(tree(499, 0))).toEqual([]);
    expect(pathsOf(tree(500, 0))).toEqual(['page.blocks']);
    expect(pathsOf(tree(501, 0))).toEqual(['page.blocks[0].childPage.blocks']);
  });

  it('include PAGE blocks (PRP-23)', () => {
    expect(pathsOf(page(Array.from({ length: 500 }, (_, at) => blocks.page(`p${at}`))))).toEqual([]);
    expect(pathsOf(page([...Array(250).keys()].map((at) => blocks.page(`p${at}`, page(texts(1))))))).toEqual([]);
    const over = [...Array(250).keys()].map((at) => blocks.page(`p${at}`, page(texts(at === 0 ? 2 : 1))));
    expect(pathsOf(page(over))).toEqual(['page.blocks']);
  });
});

describe('page levels', () => {
  it('are at most four, the root included (PRP-24)', () => {
    expect(pathsOf(nestAtLevel(3, page()))).toEqual([]);
    expect(pathsOf(nestAtLevel(4, page()))).toEqual([]);
    expect(pathsOf(nestAtLevel(5, page()))).toEqual([pathAt(5)]);
    expect(pathsOf(nestAtLevel(12, page()))).toEqual([pathAt(5)]);
  });
});

describe('free-form JSON', () => {
  const nested = (levels: number): Json => (levels === 0 ? 1 : { a: nested(levels - 1) });

  it.each(LEVELS)('has at most 64 levels with those around it, in a page at level %i (PRP-33)', (level) => {
    // The request, then the page, its blocks and the block of the next page.
    const around = 2 + 3 * (level - 1);
    const metadata = (levels: number) => nestAtLevel(level, page([], { contentMetadata: nested(levels) }));
    expect(pathsOf(metadata(64 - around))).toEqual([]);
    expect(pathsOf(metadata(65 - around))).toEqual([`${pathAt(level)}.contentMetadata${'.a'.repeat(64 - around)}`]);
    const properties = (levels: number) =>
      nestAtLevel(level, page([{ ...blocks.text('b'), properties: nested(levels) }]));
    expect(pathsOf(properties(62 - around))).toEqual([]);
    expect(pathsOf(properties(63 - around))).toEqual([
      `${pathAt(level)}.blocks[0].properties${'.a'.repeat(62 - around)}`,
    ]);
  });
});

describe('the errors of one response', () => {
  it('include all errors, in the order of the document (PRP-32)', () => {
    const document = page([
      { ...blocks.heading('a', 9), color: 'red' },
      blocks.page('b', page([blocks.text('c', []), blocks.list('d', [{ id: '', depth: 7 }])], { title: 5 })),
      blocks.text('a', [{ text: 5, marks: 'BOLD' }]),
    ]);
    expect(pathsOf(document)).toEqual([
      'page.blocks[0].color',
      'page.blocks[0].properties.level',
      'page.blocks[1].childPage.title',
      'page.blocks[1].childPage.blocks[0].richText',
      'page.blocks[1].childPage.blocks[1].properties.items[0].id',
      'page.blocks[1].childPage.blocks[1].properties.items[0].depth',
      'page.blocks[1].childPage.blocks[1].properties.items[0].richText',
      'page.blocks[2].richText[0].text',
      'page.blocks[2].richText[0].marks',
      'page.blocks[2].sourceBlockId',
    ]);
  });

  it('are at most 100 (PRP-32)', () => {
    const createInvalidPage = (count: number) =>
      page(Array.from({ length: count }, (_, at) => blocks.heading(`h${at}`, 9)));
    expect(pathsOf(createInvalidPage(99))).toHaveLength(99);
    expect(pathsOf(createInvalidPage(100))).toHaveLength(100);
    expect(pathsOf(createInvalidPage(101))).toHaveLength(100);
  });

  it('contain only the beginning of a long unknown name', () => {
    const [error] = validatePageDocument(page([], { ['x'.repeat(1_000_000)]: 1 }), 'page');
    expect(error!.fieldName.length).toBeLessThan(200);
  });

  it('are returned for any value', () => {
    for (const value of [undefined, null, 5, 'page', [], [page()], true]) expect(pathsOf(value)).toEqual(['page']);
  });
});

describe('the schema in the OpenAPI document', () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema({ $id: 'openapi', components: { schemas: pageSchemas } });
  const isValid = ajv.compile({ $ref: 'openapi#/components/schemas/PageDocument' });
  /** Rules that JSON Schema cannot express. */
  const beyond = /twice|three times|20001 c|20000 c|lone surrogate|U\+0000|\\u0000|udfff|too large/;

  it.each(CASES.filter(({ name }) => !beyond.test(name)))('agrees: $name', ({ page: document, invalidPaths }) => {
    expect(isValid(document)).toBe(invalidPaths.length === 0);
  });
});

describe('through the service', () => {
  let service: Service;
  let client: BuilderClient;

  beforeAll(async () => {
    service = await startService();
    client = await createBuilderClient(service, 'A');
  });

  afterAll(() => service.stop());

  const mutation = `mutation ($b: BuilderId!, $page: PageDocumentInput!) { syncPhotoReport(builderId: $b, sourceApp: "a",
    sourceExternalId: "walk", sourceRevision: 1, sourceCreatedAt: "2026-03-02T07:30:00Z", walkthroughDate: "2026-03-02T07:30:00Z",
    sourceAuthor: { externalId: "a", name: "b" }, page: $page) { status } }`;

  /** Cases that are valid JSON. */
  const refused = CASES.filter(
    ({ invalidPaths, name }) => invalidPaths.length > 0 && !/U\+0000|lone surrogate|\\u0000|udfff|too large/.test(name),
  );

  it('rejects invalid documents with 400 through REST and GraphQL (ERR-2, ERR-8, PRP-35)', async () => {
    for (const { name, page: document, invalidPaths } of refused) {
      const expected = invalidPaths.map((path) => `page.${path}`);
      const rest = await client.send('POST', '/photo-reports/sync', request({ page: document }));
      expect([rest.statusCode, rest.json().errors?.map(({ fieldName }: Json) => fieldName)], name).toEqual([
        400,
        expected,
      ]);
      const graph = await service.graphql(client.token, mutation, { b: client.builderId, page: document });
      const { http, errors } = graph.errors![0]!.extensions;
      expect([http.status, errors?.map((error: Json) => error.fieldName)], name).toEqual([400, expected]);
    }
  });

  it.each([
    ['U+0000', String.raw`{"a":["\u0000"]}`],
    ['a lone surrogate', String.raw`{"a":["\ud800"]}`],
    ['U+0000 in a name', String.raw`{"\u0000":1}`],
    ['a number that is too large', '{"a":[1e999]}'],
  ])('rejects %s in free-form JSON (PRP-31)', async (_, metadata) => {
    const body = JSON.stringify(request({ page: page([], { contentMetadata: 'HERE' }) })).replace('"HERE"', metadata);
    const answer = await service.request({
      method: 'POST',
      url: `/builders/${client.builderId}/photo-reports/sync`,
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
      payload: body,
    });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors[0].fieldName).toMatch(/^page\.contentMetadata/);
  });

  it('accepts valid documents at each level', async () => {
    const photo = await addPhoto(service, client.builderId);
    for (const level of LEVELS.slice(0, 3)) {
      const document = nestAtLevel(level, page([...createPageOfEveryBlock().blocks, blocks.image('image', photo)]));
      const { statusCode } = await client.send('POST', '/photo-reports/sync', request({ page: document }));
      expect(statusCode).toBe(200);
    }
  });

  it('rejects invalid literals in a GraphQL document', async () => {
    const literal = (inside: string) =>
      mutation.replace('page: $page', `page: ${inside}`).replace(/, \$page: \w+!/, '');
    const invalidDocuments = [
      '{ schemaVersion: 1, title: "a", blocks: [{ sourceBlockId: "a", type: HEADING, properties: { level: 9 }, richText: [{ text: "a" }] }] }',
      '{ schemaVersion: 1, title: "a", contentMetadata: { a: "\\u0000" }, blocks: [] }',
      '{ schemaVersion: 1, title: "a", blocks: [{ sourceBlockId: "a", type: TEXT, properties: {} }] }',
    ];
    for (const document of invalidDocuments) {
      const { errors } = await service.graphql(client.token, literal(document), { b: client.builderId });
      expect(errors![0]!.extensions).toMatchObject({
        http: { status: 400 },
        errors: [{ fieldName: expect.stringMatching(/^page\./) }],
      });
    }
    const good = '{ schemaVersion: 1, title: "a", blocks: [] }';
    expect((await service.graphql(client.token, literal(good), { b: client.builderId })).errors).toBeUndefined();
  });
});
