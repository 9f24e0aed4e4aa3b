import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import Fastify from 'fastify';
import {
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildServiceSchema } from '../../resolvers/service-schema.ts';
import { createRouteTable, type Operation } from '../../schema/route-table.ts';
import { BuilderId, text } from '../../schema/scalars.ts';
import { registerDocs } from '../../src/http/documents/docs.ts';
import { createManualOperations } from '../../src/rest/openapi/manual-operations.ts';
import { createOpenApiDocument } from '../../src/rest/openapi.ts';
import { operations, schema } from '../support/definition.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked by name.
type Json = any;

const BASE_URL = 'https://api.example.com';

let document: Json;

beforeAll(async () => {
  document = await createOpenApiDocument(schema, operations, BASE_URL);
});

const operationAt = ({ path, method }: { path: string; method: string }) =>
  document.paths[path]?.[method.toLowerCase()];

describe('the OpenAPI document', () => {
  it('has every operation of the route table, with its scope (VER-3)', () => {
    for (const operation of operations) {
      const described = operationAt(operation);
      expect(described, `${operation.method} ${operation.path}`).toBeDefined();
      expect(described.operationId).toBe(operation.operationId);
      const scheme = operation.clientCredentials ? 'oauth2ClientCredentials' : 'oauth2';
      expect(described.security).toEqual([{ [scheme]: operation.scope === null ? [] : [operation.scope] }]);
    }
  });

  it('documents every REST and manual operation, and no other', () => {
    const routes = [...createManualOperations(BASE_URL), ...operations].map(({ method, path }) => `${method} ${path}`);
    const described = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual(routes.toSorted());
  });

  it('documents every status of every operation (VER-3)', () => {
    for (const operation of operations) {
      const { path, parameters, responses } = { path: operation.path, ...operationAt(operation) };
      const needsBuilder = parameters.some(({ $ref }: Json) => $ref === '#/components/parameters/BuilderId');
      const expected = [
        operation.status,
        ...Object.values(operation.outcomes),
        ...[400, 401, 403, 429, 500, 503],
        ...(path.includes('{') || needsBuilder || operation.builderIsInput ? [404] : []),
        ...(operation.cursorExpires ? [410] : []),
        ...(operation.takesKey ? [410, 422] : []),
        ...(operation.conflicts.length > 0 ? [409] : []),
        ...(operation.method === 'GET' ? [] : [413, 415]),
      ];
      const statuses = [...new Set(expected.map(String))];
      expect(Object.keys(responses).toSorted(), path).toEqual(statuses.toSorted());
    }
  });

  it('marks the additions to v1', () => {
    for (const operation of operations) {
      const described = operationAt(operation);
      expect(described['x-extension'] ?? false, operation.path).toBe(operation.extension ?? false);
      for (const parameter of described.parameters as Json[]) {
        if (!parameter.name || operation.extension) continue;
        const isAddition = ['cursor', 'order', 'timeZone', 'updatedSince'].includes(parameter.name);
        expect(parameter['x-extension'] ?? false, `${operation.path} ${parameter.name}`).toBe(isAddition);
      }
    }
    const { properties, required } = document.components.schemas.PageMeta;
    expect([properties.nextCursor['x-extension'], required.includes('nextCursor')]).toEqual([true, false]);
  });

  it('requires the builder header where the path has no builder', () => {
    for (const path of ['/timesheets', '/timesheets/{timesheetId}', '/timesheets/cost-codes', '/subcontractors']) {
      expect(document.paths[path].get.parameters, path).toContainEqual({ $ref: '#/components/parameters/BuilderId' });
    }
    const { parameters } = document.paths['/subcontractors/{id}'].get;
    expect(parameters).toContainEqual({ $ref: '#/components/parameters/OptionalBuilderId' });
  });

  it('gives the range and default of the window of a list (VER-8)', () => {
    const { parameters } = document.paths['/builders'].get;
    const limit = parameters.find(({ name }: Json) => name === 'limit');
    expect(limit.schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 25, default: 25 });
  });

  it('marks repeatable parameters', () => {
    const { parameters } = document.paths['/builders/{builderId}/meetings'].get;
    expect(parameters.find(({ name }: Json) => name === 'status')).toMatchObject({
      style: 'form',
      explode: true,
      schema: { type: 'array', items: { $ref: '#/components/schemas/MeetingStatus' } },
    });
  });

  it('requires nullable fields but not omitted ones, and lists the id first (IDN-9)', () => {
    const { Builder, Defect } = document.components.schemas;
    expect(Object.keys(Builder.properties)[0]).toBe('id');
    expect(Builder.required).not.toContain('logoUrl');
    expect(Builder.properties.logoUrl.type).toBe('string');
    expect(Defect.required).toContain('closedAt');
    expect(Defect.properties.closedAt.type).toEqual(['string', 'null']);
    expect(Defect.properties.location.anyOf).toContainEqual({ type: 'null' });
  });

  it('has no field that only GraphQL has (VER-5)', () => {
    expect(document.components.schemas.Builder.properties).not.toHaveProperty('projects');
    expect(document.components.schemas.Meeting.properties).not.toHaveProperty('createdAt');
  });

  it('has a discriminator for each union', () => {
    const { DefectAssignee, DefectUser } = document.components.schemas;
    expect(DefectAssignee.discriminator.mapping).toMatchObject({ USER: '#/components/schemas/DefectUser' });
    expect(DefectUser.properties.type).toMatchObject({ type: 'string', const: 'USER' });
  });

  it('describes each of its tags', () => {
    for (const { name, description } of document.tags) expect(description, name).toEqual(expect.any(String));
  });

  it('is identical when generated again', async () => {
    const again = await createOpenApiDocument(buildServiceSchema(), operations, BASE_URL);
    expect(JSON.stringify(again)).toBe(JSON.stringify(document));
  });
});

describe('the examples', () => {
  it('are valid against their own schemas', () => expect(invalidExamples(document)).toEqual([]));

  it('have a specific value for every text (otherwise add one to example-values.ts)', () => {
    // The default example of a text scalar, which shows nothing about the field.
    const plain = examplesOf(document).flatMap(({ value }) => leaves(value).filter(([, leaf]) => leaf === 'text'));
    expect([...new Set(plain.map(([field]) => field))]).toEqual([]);
  });

  it('exist for every request and response body', () => {
    for (const { pointer, content } of mediaTypesOf(document)) {
      expect('example' in content || 'examples' in content, pointer).toBe(true);
    }
  });
});

describe('the description of a request body', () => {
  const title = text('WidgetTitle', 'Title, 1 to 160 characters.', { min: 1, max: 160, example: 'Slab' });
  const page: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: 'PageInput',
    fields: () => ({
      title: { type: new GraphQLNonNull(title) },
      blocks: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(block))) },
    }),
  });
  const block: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: 'BlockInput',
    fields: () => ({ level: { type: GraphQLInt, defaultValue: 1 }, childPage: { type: page } }),
  });
  const rest = {
    ...{
      method: 'POST',
      path: '/builders/{id}/widgets',
      params: { id: 'builderId' },
      scope: 'write:photos',
      tag: 'Photos',
    },
    ...{ status: 201, outcomes: { REPLAYED: 200 }, conflicts: ['STALE_REVISION', 'REVISION_CONFLICT'] },
  };
  const widget = new GraphQLObjectType({ name: 'Widget', fields: { title: { type: new GraphQLNonNull(title) } } });
  const createWidget = {
    type: new GraphQLNonNull(widget),
    args: {
      page: { type: new GraphQLNonNull(page) },
      note: { type: GraphQLString, description: 'For people.' },
      builderId: { type: new GraphQLNonNull(BuilderId) },
    },
    extensions: { rest, scope: rest.scope },
  };
  const withMutation = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { none: { type: GraphQLInt } } }),
    mutation: new GraphQLObjectType({ name: 'Mutation', fields: { createWidget } }),
  });
  let described: Json;
  let operation: Json;

  beforeAll(async () => {
    described = await createOpenApiDocument(withMutation, createRouteTable(withMutation) as Operation[], BASE_URL);
    operation = described.paths['/builders/{id}/widgets'].post;
  });

  it('has the arguments that are not in the path', () => {
    const { CreateWidgetRequest } = described.components.schemas;
    expect(Object.keys(CreateWidgetRequest.properties)).toEqual(['page', 'note']);
    expect(CreateWidgetRequest.required).toEqual(['page']);
    expect(CreateWidgetRequest.properties.note).toEqual({ description: 'For people.', type: ['string', 'null'] });
    expect(operation.requestBody.required).toBe(true);
  });

  it('describes nested and recursive input types', () => {
    const { BlockInput, PageInput } = described.components.schemas;
    expect(PageInput.properties.blocks.items).toEqual({ $ref: '#/components/schemas/BlockInput' });
    expect(BlockInput.properties.childPage.anyOf[0]).toEqual({ $ref: '#/components/schemas/PageInput' });
    expect(BlockInput.properties.level.default).toBe(1);
  });

  it('allows unknown fields (VER-2)', () => {
    expect(described.components.schemas.BlockInput).not.toHaveProperty('additionalProperties');
  });

  it('lists the statuses of conflicts and outcomes', () => {
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['200', '201', '409', '413', '415']));
    const { properties } = operation.responses[409].content['application/json'].schema;
    expect(properties.code.enum).toEqual(['STALE_REVISION', 'REVISION_CONFLICT']);
  });

  it('has a valid example', () => {
    expect(operation.requestBody.content['application/json'].example).toMatchObject({ page: { title: 'Slab' } });
    // Its responses are not recorded.
    expect(invalidExamples(described).filter((error) => !error.includes('/responses/'))).toEqual([]);
  });
});

describe('/docs', () => {
  it('loads nothing from another host', async () => {
    const app = Fastify();
    await registerDocs(app, { document, baseUrl: 'http://service', production: false });
    const page = await app.inject('/docs/');
    const addresses = [...page.body.matchAll(/(?:src|href)="([^"]*)"|\burl\(([^)]*)\)|import\("([^"]*)"\)/g)];
    const loaded = addresses.map((match) => match.slice(1).find((address) => address !== undefined)!);
    expect(loaded.length).toBeGreaterThan(0);
    for (const address of loaded) {
      expect(new URL(address, 'http://service/docs/').host, address).toBe('service');
      expect((await app.inject(new URL(address, 'http://service/docs/').pathname)).statusCode, address).toBe(200);
    }
    // Browsers also request an icon.
    expect((await app.inject('/favicon.ico')).statusCode).toBe(204);
    expect(page.headers['content-security-policy']).not.toMatch(/https?:|\*/);
    expect((await app.inject('/openapi.json')).json()).toEqual(JSON.parse(JSON.stringify(document)));
    await app.close();
  });

  it('is a page without scripts in production, with every operation and schema (ACC-17)', async () => {
    const app = Fastify();
    await registerDocs(app, { document, baseUrl: 'http://service', production: true });
    const { body, headers } = await app.inject('/docs/');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self';/);
    expect(body).not.toMatch(/<script|\son\w+=|javascript:/i);
    // Nothing but the words of a search can be entered.
    expect(body.match(/<(?:input|textarea|button|select)[^>]*name="[^"]*"/g)).toEqual([
      '<input type="search" name="q"',
    ]);
    const ids = new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const operations = Object.entries(document.paths as Record<string, Record<string, { tags: string[] }>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(
          ([method, { tags }]) => `tag/${tags[0]!.toLowerCase().replaceAll(' ', '-')}/${method.toUpperCase()}${path}`,
        ),
    );
    expect(operations.filter((id) => !ids.has(id))).toEqual([]);
    const targets = [...body.matchAll(/href="#((?:schema-|tag\/)[^"]+)"/g)].map(([, target]) => target);
    expect(targets.length).toBeGreaterThan(100);
    expect(targets.filter((target) => !ids.has(target))).toEqual([]);
    const [, stylesheet] = /<link rel="stylesheet" href="([^"]+)"/.exec(body)!;
    expect((await app.inject(stylesheet!)).headers['content-type']).toBe('text/css; charset=utf-8');
    expect((await app.inject('/docs/js/scalar-0000000000000000.js')).statusCode).toBe(404);
    await app.close();
  });
});

interface Example {
  /** JSON pointer of the schema within the document. */
  schema: string;
  pointer: string;
  value: unknown;
}

/** Every object of the document with its JSON pointer. */
function* walk(value: Json, pointer = ''): Generator<{ pointer: string; value: Json }> {
  if (value === null || typeof value !== 'object') return;
  yield { pointer, value };
  for (const [key, item] of Object.entries(value)) {
    if (key === 'example' || key === 'examples' || key === 'value') continue;
    yield* walk(item, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

/** Examples of parameters, headers and bodies, and the `examples` and `default` of schemas. */
function examplesOf(document: Json): Example[] {
  return [...walk(document)].flatMap(({ pointer, value }) => {
    const schema = value.schema ? `${pointer}/schema` : pointer;
    const named = value.examples && !Array.isArray(value.examples) ? Object.values<Json>(value.examples) : [];
    const values = [
      ...('example' in value ? [value.example] : []),
      ...(Array.isArray(value.examples) ? value.examples : named.map((example) => example.value)),
      ...('default' in value && !('schema' in value) && ('type' in value || '$ref' in value) ? [value.default] : []),
    ];
    return values.map((example: unknown) => ({ schema, pointer, value: example }));
  });
}

function invalidExamples(document: Json): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, 'document');
  const examples = examplesOf(document);
  expect(examples.length).toBeGreaterThan(0);
  return examples.flatMap(({ schema, pointer, value }) => {
    const valid = ajv.compile({ $ref: `document#${encodeURI(schema)}` });
    return valid(value) ? [] : [`${pointer}: ${JSON.stringify(value)} ${ajv.errorsText(valid.errors)}`];
  });
}

const mediaTypesOf = (document: Json) =>
  [...walk(document)].flatMap(({ pointer, value }) =>
    Object.values<Json>(value.content ?? {}).map((content) => ({ pointer, content })),
  );

/** Returns every leaf value with the name of its field. */
function leaves(value: unknown, field = ''): [field: string, value: unknown][] {
  if (value === null || typeof value !== 'object') return [[field, value]];
  return Object.entries(value).flatMap(([name, item]) => leaves(item, Array.isArray(value) ? field : name));
}
