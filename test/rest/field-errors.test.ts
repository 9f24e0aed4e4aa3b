import { describe, expect, it } from 'vitest';
import { hasLength } from '../../schema/text.ts';
import { useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';

const service = useService();
const client = useBuilderClient(service, 'A');

const namesOf = (errors: unknown[]) => (errors as { fieldName: string }[]).map(({ fieldName }) => fieldName);

describe('an input with many errors', () => {
  const errors = 100;

  it('is 400 with the first hundred, in REST (ERR-2, ERR-3)', async () => {
    const photos = Array(10_000).fill(5);
    const body = { externalSourceId: 'a', sourceApp: 'b', projectId: 'proj_a1', photos };
    const answer = await client.send('POST', '/photo-gallery/bulk-upsert', body);
    expect([answer.statusCode, answer.json().errors.length]).toEqual([400, errors]);
    expect(answer.json().errors[99].fieldName).toBe('photos[99]');
  });

  it('is 400 with the first hundred, in GraphQL (ERR-3)', async () => {
    const mutation = `mutation ($b: BuilderId!, $photos: [GalleryPhoto!]!) { bulkUpsertPhotos(builderId: $b,
      externalSourceId: "a", sourceApp: "b", projectId: "proj_a1", photos: $photos) { folderId } }`;
    const answer = await service.graphql(client.token, mutation, {
      b: client.builderId,
      photos: Array(10_000).fill(5),
    });
    expect(answer.errors![0]!.extensions.http.status).toBe(400);
    expect(answer.errors![0]!.extensions.errors).toHaveLength(errors);
  });
});

describe('an input that breaks rules of single fields and rules over several fields', () => {
  const photo = { externalSourceId: 'a' };
  const imageUrl = 'https://images.example/a.jpg';
  const bulkUpsert = { externalSourceId: 'a', projectId: 'proj_a1' };
  const signOn = { sourceEventId: 'e1', type: 'SIGN_ON', sourceSignOnEventId: 'e0' };

  /** Operation, body, and the fields of the response in their order. */
  const inputs: [operation: string, body: object, fields: string[]][] = [
    ['photos', { capturedAt: 'x' }, ['fileName', 'capturedAt', 'imageAttachment']],
    ['photos', { imageUrl: '' }, ['fileName', 'imageUrl']],
    ['photos', { fileName: 'a', imageUrl, imageAttachment: 5 }, ['imageAttachment']],
    ['photos', { imageUrl, imageAttachment: null }, ['fileName']],
    ['photo-gallery/bulk-upsert', { ...bulkUpsert, photos: [photo] }, ['sourceApp', 'photos[0].imageAttachment']],
    [
      'photo-gallery/bulk-upsert',
      { ...bulkUpsert, photos: [{}, photo, photo, null, { ...photo, imageUrl: 5 }] },
      [
        'sourceApp',
        'photos[0].externalSourceId',
        'photos[3]',
        'photos[4].imageUrl',
        ...['photos[0].imageAttachment', 'photos[1].imageAttachment'],
        ...['photos[2].externalSourceId', 'photos[2].imageAttachment', 'photos[4].externalSourceId'],
      ],
    ],
    ['photo-gallery/bulk-upsert', { ...bulkUpsert, photos: 5 }, ['sourceApp', 'photos']],
    [
      'attachments/presign',
      { contentType: 'text/plain', fileName: '', size: 0, type: 'attachment' },
      ['contentType', 'fileName', 'size'],
    ],
    ...['a/b.jpg', '..\\\\b.jpg', '..', 'a\n.jpg'].map((fileName): [string, object, string[]] => [
      'attachments/presign',
      { contentType: 'image/jpeg', fileName, size: 1, type: 'attachment' },
      ['fileName'],
    ]),
    ['attachments/presign', { contentType: 5, fileName: 'a', size: 1, type: 'attachment' }, ['contentType']],
    [
      'projects/proj_a1/sign-on-events',
      { ...signOn, occurredAt: '2126-03-02T07:30:00Z' },
      ['sourceSignOnEventId', 'workerId', 'occurredAt'],
    ],
    [
      'projects/proj_a1/sign-on-events',
      { ...signOn, occurredAt: 1 },
      ['sourceSignOnEventId', 'workerId', 'occurredAt'],
    ],
  ];

  it.each(inputs)(
    'is 400 with all of them: POST /builders/{builderId}/%s %j (ERR-1)',
    async (operation, body, fields) => {
      const answer = await client.send('POST', `/${operation}`, body);
      expect([answer.statusCode, namesOf(answer.json().errors)]).toEqual([400, fields]);
    },
  );

  it.each([
    ['offset=0&cursor=&limit=26', ['limit', 'cursor']],
    ['offset=-1&cursor=', ['offset', 'cursor']],
    ['offset=0&cursor=&cursor=', ['cursor']],
    ['offset=0&cursor=nonsense', ['cursor']],
  ])('is 400 with all of them: GET /builders?%s (ERR-1)', async (query, fields) => {
    const answer = await service.get(`/builders?${query}`, client.token);
    expect([answer.statusCode, namesOf(answer.json().errors).sort()]).toEqual([400, fields.sort()]);
  });

  it('is 400 with both headers (ERR-1)', async () => {
    const headers = {
      authorization: `Bearer ${client.token}`,
      ...{ 'x-service-api-version': 'v9', 'x-service-builder-id': 'nobody' },
    };
    const answer = await service.request({ method: 'GET', url: '/builders', headers });
    expect(namesOf(answer.json().errors)).toEqual(['X-Service-Api-Version', 'X-Service-Builder-Id']);
  });

  it('is 400 with the version alone where the builder header is one that the token does not reach (ERR-23)', async () => {
    const url = `/builders/${client.builderId}`;
    const headers = {
      authorization: `Bearer ${client.token}`,
      ...{ 'x-service-api-version': 'v9', 'x-service-builder-id': 'buil_anone' },
    };
    const answer = await service.request({ method: 'GET', url, headers });
    expect([answer.statusCode, namesOf(answer.json().errors)]).toEqual([400, ['X-Service-Api-Version']]);
  });

  /** Returns the status and the fields of the first error. */
  async function readGraphqlErrors(query: string, variables: object, token = client.token) {
    const { errors } = await service.graphql(token, query, { ...variables });
    const { http, errors: fields } = errors![0]!.extensions;
    return [http.status, fields && namesOf(fields)];
  }

  it('is one error with all of them in GraphQL, where variables are wrong (ERR-24)', async () => {
    const createPhoto = `mutation ($b: BuilderId!, $fileName: FileName!, $at: Timestamp, $url: ImageUrl) {
      createPhoto(builderId: $b, fileName: $fileName, capturedAt: $at, imageUrl: $url) { id } }`;
    const b = client.builderId;
    expect(await readGraphqlErrors(createPhoto, { b, at: 'x' })).toEqual([
      400,
      ['fileName', 'capturedAt', 'imageAttachment'],
    ]);
    expect(await readGraphqlErrors(createPhoto, { b, url: '' })).toEqual([400, ['fileName', 'imageUrl']]);
    const builders = 'query ($limit: PageLimit) { builders(offset: 0, cursor: "", limit: $limit) { meta { limit } } }';
    expect(await readGraphqlErrors(builders, { limit: 26 })).toEqual([400, ['limit', 'cursor']]);
    const withDefault = `query ($limit: PageLimit, $cursor: ListCursor = "") {
      builders(offset: 0, cursor: $cursor, limit: $limit) { meta { limit } } }`;
    expect(await readGraphqlErrors(withDefault, { limit: 26 })).toEqual([400, ['limit', 'cursor']]);
    const inLiteral = `mutation ($b: BuilderId!, $url: ImageUrl) { bulkUpsertPhotos(builderId: $b, projectId: "proj_a1",
      externalSourceId: "a", sourceApp: "b", photos: [{ externalSourceId: "a", imageUrl: $url }]) { folderId } }`;
    expect(await readGraphqlErrors(inLiteral, { b, url: '' })).toEqual([400, ['photos[0].imageUrl']]);
  });

  it('is an error of the root field for literals and for valid variables, after its authorization (ERR-23)', async () => {
    const createPhoto = 'mutation ($b: BuilderId!) { createPhoto(builderId: $b, fileName: "a") { id } }';
    expect(await readGraphqlErrors(createPhoto, { b: client.builderId })).toEqual([400, ['imageAttachment']]);
    const reader = await service.tokenOf('A', ['read:photos']);
    expect(await readGraphqlErrors(createPhoto, { b: client.builderId }, reader)).toEqual([403, undefined]);
    const presign = `mutation ($b: BuilderId!) { presignAttachment(builderId: $b, contentType: "text/plain",
      fileName: "a", size: 1, type: attachment) { key } }`;
    expect(await readGraphqlErrors(presign, { b: client.builderId })).toEqual([400, ['contentType']]);
    const signOnEvent = `mutation ($b: BuilderId!) { recordSignOnEvent(builderId: $b, projectId: "proj_a1",
      sourceEventId: "e1", sourceSignOnEventId: "e0", workerId: "wkr_a1", type: SIGN_ON,
      occurredAt: "2126-03-02T07:30:00Z") { data { id } } }`;
    const fields = ['sourceSignOnEventId', 'occurredAt'];
    expect(await readGraphqlErrors(signOnEvent, { b: client.builderId })).toEqual([400, fields]);
  });

  it.each([
    [
      'a variable',
      'query ($b: BuilderId!, $s: ProjectStatus) { projects(builderId: $b, status: $s) { data { id } } }',
      'x',
    ],
    [
      'a literal',
      'query ($b: BuilderId!) { projects(builderId: $b, status: NONE, limit: 99) { data { id } } }',
      undefined,
    ],
    ['an omitted argument', 'query ($b: BuilderId!) { project(builderId: $b) { id } }', undefined],
  ])('comes after scope and builder access in GraphQL: %s (ERR-23, ERR-28)', async (_what, query, s) => {
    const unconnected = service.findDemoClient('B').builderIds.find((id) => id !== client.builderId)!;
    const without = await service.tokenOf('A', ['read:photos']);
    expect((await readGraphqlErrors(query, { b: client.builderId, s }))[0]).toBe(400);
    expect(await readGraphqlErrors(query, { b: unconnected, s })).toEqual([403, undefined]);
    expect(await readGraphqlErrors(query, { b: client.builderId, s }, without)).toEqual([403, undefined]);
  });

  it('is an error of an edge (LST-13)', async () => {
    const edge =
      'query ($b: BuilderId!) { builder(builderId: $b) { projects(offset: 0, cursor: "") { meta { limit } } } }';
    expect(await readGraphqlErrors(edge, { b: client.builderId })).toEqual([400, ['cursor']]);
  });
});

describe('a text that exceeds its maximum length', () => {
  it('is 400 with a message that does not repeat it (ERR-3)', async () => {
    const type = 'does not exist in '.repeat(50_000);
    const body = { sourceEventId: 'e1', workerId: 'wkr_a1', type, occurredAt: '2026-03-02T07:30:00Z' };
    const answer = await client.send('POST', '/projects/proj_a1/sign-on-events', body);
    expect(answer.json()).toEqual({ errors: [{ fieldName: 'type', message: 'must be one of SIGN_ON, SIGN_OFF' }] });
  });

  it('is measured in code points (IDN-10)', () => {
    const crane = '\u{1F3D7}';
    expect(hasLength(crane.repeat(5), 1, 5)).toBe(true);
    expect(hasLength(crane.repeat(6), 1, 5)).toBe(false);
    expect(hasLength(crane, 2, 5)).toBe(false);
    expect(hasLength('a'.repeat(11), 1, 5)).toBe(false);
    expect(hasLength('', 1, 5)).toBe(false);
  });
});
