import { describe, expect, it } from 'vitest';
import { SCOPES } from '../../schema/scopes.ts';
import { IMAGE_TYPES } from '../../src/images/types.ts';
import { createOpenApiDocument } from '../../src/rest/openapi.ts';
import { operations, schema } from '../support/definition.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked by name.
type Json = any;

const document: Json = await createOpenApiDocument(schema, operations, 'https://api.example.com');
const { schemas, parameters } = document.components;

const operationsOf = (paths: Json): Json[] => Object.values<Json>(paths).flatMap((item) => Object.values<Json>(item));

/** Returns every property of every schema with its path. */
function* propertiesOf(value: Json, path: string): Generator<{ path: string; property: Json }> {
  if (value === null || typeof value !== 'object') return;
  for (const [key, item] of Object.entries<Json>(value)) {
    if (key === 'example' || key === 'examples') continue;
    if (key === 'properties' && !path.endsWith('/properties')) {
      for (const [name, property] of Object.entries(item)) yield { path: `${path}/${name}`, property };
    }
    yield* propertiesOf(item, `${path}/${key}`);
  }
}

describe('every property of the document', () => {
  it('has a description, which for identifiers is not only their prefix', () => {
    const properties = [...propertiesOf(document, '')];
    expect(properties.length).toBeGreaterThan(450);
    const poor = properties.filter(
      ({ property: { description = '' } }) =>
        description.length < 8 || /^Identifier\b.* begins with `\w+_`\.$/.test(description),
    );
    expect(poor.map(({ path }) => path)).toEqual([]);
  });
});

describe('operation ids', () => {
  it('begin with a verb: list or get for queries, the action for mutations (VER-4)', () => {
    const verbs =
      /^(list|get|create|update|delete|start|end|upsert|bulkUpsert|bulkDelete|bulkUpload|upload|put|presign|sync|archive|record|issue|revoke|introspect|authorize|rotate|test|replay)([A-Z]|$)/;
    const ids = operationsOf(document.paths).map(({ operationId }) => operationId as string);
    expect(ids.filter((id) => !verbs.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(['listBuilders', 'getBuilder', 'getMe', 'createPhoto', 'issueToken']));
  });
});

describe('the body of an update', () => {
  it('accepts null only for fields that null clears', () => {
    const { UpdatePhotoRequest, UpdatePhotoFolderRequest } = schemas;
    const types = (object: Json) =>
      Object.fromEntries(Object.entries<Json>(object.properties).map(([name, { type }]) => [name, type]));
    expect(types(UpdatePhotoRequest)).toEqual({
      fileName: 'string',
      description: ['string', 'null'],
      capturedAt: 'string',
      folderId: ['string', 'null'],
    });
    expect(types(UpdatePhotoFolderRequest)).toEqual({ name: 'string', parentId: ['string', 'null'] });
  });
});

describe('lists of an input', () => {
  it('have bounds for the number of items', () => {
    expect(schemas.BulkUpsertPhotosRequest.properties.photos).toMatchObject({ minItems: 1, maxItems: 100 });
    const { detailBlocks, actionItems } = schemas.UpsertMeetingNoteRequest.properties;
    expect([detailBlocks.maxItems, actionItems.maxItems]).toEqual([500, 100]);
  });
});

describe.each([
  ['/builders/{builderId}/photo-gallery/bulk-upsert', ['externalSourceId', 'sourceApp', 'projectId', 'folderId']],
  ['/builders/{builderId}/photo-reports/sync', ['sourceApp', 'sourceExternalId', 'sourceRevision']],
])('DELETE %s', (path, fields) => {
  it('accepts its fields in the body or in the query, neither of which is required', () => {
    const { requestBody, parameters, description } = document.paths[path].delete;
    expect(requestBody.required).toBe(false);
    const inQuery = parameters.filter((parameter: Json) => parameter.in === 'query');
    expect(inQuery.map(({ name }: Json) => name).toSorted()).toEqual(fields.toSorted());
    expect(inQuery.some(({ required }: Json) => required)).toBe(false);
    expect(description).toContain('in a JSON body or in the query');
  });
});

describe('X-Service-Builder-Id', () => {
  it('is optional, because a token of the authorization-code flow supplies the builder', () => {
    expect(parameters.BuilderId.required).not.toBe(true);
    expect(parameters.BuilderId.description).toContain('`builder_id`');
  });
});

describe('the bulk upsert', () => {
  it('documents that a move archives all copies of the page in every other project', () => {
    const { description } = document.paths['/builders/{builderId}/photo-gallery/bulk-upsert'].post;
    expect(description).toContain('**all** active copies of the page in every other project');
  });
});

describe('additions to v1', () => {
  const namesOf = (path: string) => document.paths[path].get.parameters.map(({ name }: Json) => name);

  it('are documented: pages of photos, their source, the company record, direct uploads (VER-8)', () => {
    expect(namesOf('/builders/{builderId}/photos')).toEqual(expect.arrayContaining(['offset', 'limit', 'source']));
    expect(namesOf('/builders/{builderId}/photos/{photoId}')).toContain('source');
    expect(namesOf('/subcontractors')).toContain('includeBuilderCompany');
    expect(schemas.Subcontractor.properties.isBuilder.type).toBe('boolean');
    expect(document.paths['/builders/{builderId}/attachments/presign'].post).toBeDefined();
  });
});

describe('the presign operation', () => {
  it('lists the image types', () => {
    const { description } = schemas.PresignAttachmentRequest.properties.contentType;
    for (const type of IMAGE_TYPES) expect(description).toContain(`\`${type}\``);
  });
});

describe('the download of a file', () => {
  const { parameters, responses } = document.paths['/storage/{regionId}/{key}'].get;

  it('has the headers of ranges and of conditional requests (UPL-32, HDR-17)', () => {
    const headers = parameters.filter((parameter: Json) => parameter.in === 'header').map(({ name }: Json) => name);
    expect(headers).toEqual(['Range', 'If-Range', 'If-None-Match']);
    for (const status of [200, 206, 304]) expect(responses[status].headers, String(status)).toHaveProperty('ETag');
    expect(responses[304]).not.toHaveProperty('content');
  });
});

describe('every operation with a limit or a database', () => {
  it('documents that the limit is used up, and that the service fails (VER-3)', () => {
    const withoutEither = ['getAuthorizationServerMetadata', 'getLiveness', 'getReadiness'];
    const undocumented = operationsOf(document.paths)
      .filter(({ operationId }) => !withoutEither.includes(operationId))
      .filter(({ responses }) => !(responses[429] && responses[500] && responses[503]));
    expect(undocumented.map(({ operationId }) => operationId)).toEqual([]);
  });
});

describe('the token endpoint', () => {
  const { responses } = document.paths['/oauth/token'].post;

  it.each(['200', '400', '401', '413'])('says of %s that no cache may keep it', (status) => {
    expect(Object.keys(responses[status].headers)).toEqual(expect.arrayContaining(['Cache-Control', 'Pragma']));
  });

  it('describes the claims of the access token', () => {
    expect(schemas.Token.properties.access_token.contentSchema).toEqual({
      $ref: '#/components/schemas/AccessTokenClaims',
    });
    expect(Object.keys(schemas.AccessTokenClaims.properties).sort()).toEqual(
      ['sub', 'client_id', 'builder_id', 'iss', 'aud', 'scope', 'jti', 'iat', 'exp'].sort(),
    );
    expect(schemas.AccessTokenClaims.required).not.toContain('builder_id');
  });

  it('marks deprecated fields (VER-6)', () => {
    const { expires, expires_in } = schemas.Token.properties;
    expect([expires.deprecated, expires_in.deprecated]).toEqual([true, undefined]);
  });

  it('lists every scope', () => {
    const { flows } = document.components.securitySchemes.oauth2;
    expect(Object.keys(flows.clientCredentials.scopes)).toEqual([...SCOPES]);
  });
});
