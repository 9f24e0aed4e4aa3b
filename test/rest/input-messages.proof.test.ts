import {
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../schema/route-table.ts';
import { locateArguments } from '../../src/rest/input.ts';
import { createOpenApiDocument } from '../../src/rest/openapi.ts';
import { operations, schema } from '../support/definition.ts';
import { BASE_URL, useService } from '../support/harness.ts';
import { createOperationDocument } from '../support/operation-calls.ts';
import { createSamples, requireSample, type Samples } from '../support/samples.ts';
import { generateWrongBodies, WRONG_TEXTS } from '../support/wrong-values.ts';

interface FieldError {
  fieldName: string;
  message: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a document is walked by name.
const document = (await createOpenApiDocument(schema, operations, BASE_URL)) as any;

/** Names of all types of the schema. */
const TYPE_NAMES = Object.keys(schema.getTypeMap()).filter((name) => !name.startsWith('__'));
const GRAPHQL_TERMS = [
  /expected (type|value)/i,
  /non-nullable/i,
  /variable "/i,
  /cannot represent/i,
  /\benum\b/i,
  /not defined by/i,
  /of required type/i,
  /is not valid$/,
  new RegExp(`"(${TYPE_NAMES.join('|')})[!"\\]]`),
  new RegExp(`\\b(${TYPE_NAMES.filter((name) => /[a-z][A-Z]/.test(name)).join('|')}|Int|Float|ID|String)\\b`),
];

const service = useService();
let token: string;
let samples: Samples;

beforeAll(async () => {
  token = await service.tokenOf('A');
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
});

const rootField = ({ kind, field }: Operation) =>
  (kind === 'Query' ? schema.getQueryType()! : schema.getMutationType()!).getFields()[field]!;

const inPathOf = (operation: Operation) =>
  locateArguments(operation, schema).filter(({ location }) => location === 'path');

function urlOf(operation: Operation, ids: Samples): string {
  const types = new Map(inPathOf(operation).map(({ name, argument }) => [name, getNamedType(argument.type).name]));
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => requireSample(ids, types.get(name)!));
}

/** Who calls, with which ids. */
interface Caller {
  token: string;
  ids: Samples;
}

const callerOf = (): Caller => ({ token, ids: samples });

/** A caller whose token lacks the scope of the operation. */
async function callerWithoutScope({ scope }: Operation): Promise<Caller> {
  const others = service.findDemoClient('A').scopes.filter((each) => each !== scope);
  return { token: await service.tokenOf('A', others), ids: samples };
}

/** A caller who names a builder to which it is not connected. */
function callerOfAnotherBuilder(): Caller {
  const own = service.findDemoClient('A').builderIds;
  const foreign = service.findDemoClient('B').builderIds.find((id) => !own.includes(id))!;
  return { token, ids: { ...samples, BuilderId: foreign } };
}

/** What a response says about a request that failed; null for one that succeeded. */
interface Failure {
  status: number;
  code: string;
  errors: FieldError[];
}

async function sendByRest(
  operation: Operation,
  query: string,
  body?: unknown,
  caller = callerOf(),
): Promise<Failure | null> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const response = await service.request({
    method: operation.method,
    url: `${urlOf(operation, caller.ids)}${query}`,
    headers: {
      authorization: `Bearer ${caller.token}`,
      'x-service-builder-id': caller.ids.BuilderId!,
      ...(payload !== undefined && { 'content-type': 'application/json' }),
    },
    payload,
  });
  const { statusCode: status } = response;
  expect(status, response.body).toBeLessThan(500);
  if (status < 400) return null;
  // The body of a field error has no code in v1.
  const { code = 'BAD_USER_INPUT', errors = [] } = response.json();
  return { status, code, errors };
}

type Spelling = 'variables' | 'literals';
const SPELLINGS: Spelling[] = ['variables', 'literals'];

/** Calls the operation with the arguments as variables, or as literals of the document. */
async function sendByGraphql(
  operation: Operation,
  input: object,
  as: Spelling,
  caller = callerOf(),
): Promise<Failure | null> {
  const ids = locateArguments(operation, schema)
    .filter(({ location, argument }) => ['path', 'header'].includes(location) || argument.name === 'builderId')
    .map(({ argument }) => [argument.name, caller.ids[getNamedType(argument.type).name]]);
  const field = rootField(operation);
  const values = { ...Object.fromEntries(ids), ...input };
  const { errors = [] } = await (as === 'variables'
    ? service.graphql(caller.token, createOperationDocument(operation.kind, field), values)
    : service.graphql(caller.token, createLiteralDocument(operation, values)));
  expect(errors.length).toBeLessThan(2);
  if (errors.length === 0) return null;
  const { http, code, errors: found = [] } = errors[0]!.extensions;
  return { status: http.status, code, errors: found as FieldError[] };
}

function createLiteralDocument(operation: Operation, values: Record<string, unknown>): string {
  const { name, args } = rootField(operation);
  const given = args.filter((argument) => values[argument.name] !== undefined);
  const literals = given.map((argument) => `${argument.name}: ${printLiteral(values[argument.name], argument.type)}`);
  const list = literals.length > 0 ? `(${literals.join(', ')})` : '';
  return `${operation.kind.toLowerCase()} { ${name}${list} { __typename } }`;
}

/** Prints a JSON value, whose texts are names where the type has names. */
function printLiteral(value: unknown, type: GraphQLInputType | undefined): string {
  const nullable = type && getNullableType(type);
  if (Array.isArray(value)) {
    const item = isListType(nullable) ? (nullable.ofType as GraphQLInputType) : type;
    return `[${value.map((each) => printLiteral(each, item)).join(', ')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const fields = isInputObjectType(nullable) ? nullable.getFields() : {};
    return `{ ${Object.entries(value).map(([name, each]) => `${name}: ${printLiteral(each, fields[name]?.type)}`)} }`;
  }
  const isName =
    type && isEnumType(getNamedType(type)) && typeof value === 'string' && /^(?!null$)[A-Za-z_]\w*$/.test(value);
  return isName ? value : JSON.stringify(value);
}

const withGraphqlTerms = (errors: readonly FieldError[]) =>
  errors.map(({ message }) => message).filter((message) => GRAPHQL_TERMS.some((term) => term.test(message)));

/** Returns the example body with null for each absent field, so that it has every path of the input. */
function exampleOf({ path, method }: Operation): object | undefined {
  const content = document.paths[path][method.toLowerCase()].requestBody?.content['application/json'];
  return content && (fillWithNull(content.schema, content.example) as object);
}

// biome-ignore lint/suspicious/noExplicitAny: a document is walked by name.
function fillWithNull(schema: any, value: any): unknown {
  const { properties, items, anyOf } = schema.$ref
    ? document.components.schemas[schema.$ref.split('/').at(-1)]
    : schema;
  if (Array.isArray(value)) return value.map((item) => fillWithNull(items ?? {}, item));
  if (anyOf) return fillWithNull(anyOf[0], value);
  if (!properties || value === null || typeof value !== 'object') return value;
  const fields = Object.entries(properties).map(([name, field]) => [name, fillWithNull(field, value[name] ?? null)]);
  return { ...value, ...Object.fromEntries(fields) };
}

const withBody = operations.filter(exampleOf);
const withQuery = operations.filter((operation) =>
  locateArguments(operation, schema).some(({ location }) => location === 'query' || location === 'bodyOrQuery'),
);

/** Leaves out the fields that REST ignores and GraphQL rejects, as its specification requires. */
const withoutUnknownFields = (failure: Failure | null): Failure | null =>
  failure && {
    ...failure,
    errors: failure.errors.filter(({ message }) => message !== 'is not a field of this object'),
  };

/** Whether GraphQL accepts what REST rejects: its specification takes a value in place of a list for its only item. */
const isValueForList = (failure: Failure) => failure.errors.some(({ message }) => message === 'must be an array');

/**
 * Rejections of which GraphQL's have been compared, by message and value. GraphQL converts a value by the type of its field, which the
 * message names, so that each field needs only one comparison besides.
 */
const compared = new Set<string>();

/** Whether to compare a rejection: the first one of each field, and of each message with each value. */
function isNewRejection({ errors }: Failure, value: unknown, fields: Set<string>, field: string): boolean {
  const rejection = JSON.stringify([errors.map(({ message }) => message), value]);
  if (compared.has(rejection) && fields.has(field)) return false;
  compared.add(rejection);
  fields.add(field);
  return true;
}

/** JSON Schema of the body's value at a path, without what it says to readers. */
function schemaAt({ path, method }: Operation, at: readonly (string | number)[]): string {
  // biome-ignore lint/suspicious/noExplicitAny: a document is walked by name.
  const resolve = (schema: any): any =>
    schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : (schema.anyOf?.[0] ?? schema);
  let schema = resolve(document.paths[path][method.toLowerCase()].requestBody.content['application/json'].schema);
  for (const key of at)
    schema = resolve(resolve(typeof key === 'number' ? (schema.items ?? {}) : (schema.properties?.[key] ?? {})));
  return JSON.stringify(schema, (key, value) =>
    ['description', 'example', 'examples'].includes(key) ? undefined : value,
  );
}

/** Schemas of fields with the values that have been sent for them, in any operation. */
const sent = new Set<string>();

/** Whether to send a wrong value: the first of each schema, and few for each field. */
function isNewValue(schema: string, value: unknown): boolean {
  const pair = JSON.stringify([schema, value === undefined ? 'absent' : value]);
  const isNew = !sent.has(pair);
  sent.add(pair);
  return isNew || value === undefined || value === 7;
}

describe.each(withBody)('$method $path, whatever is wrong in the body', (operation) => {
  it('has a message in terms of JSON, and the same error through GraphQL (ERR-4, ERR-24)', async () => {
    const terms = new Set<string>();
    const fields = new Set<string>();
    const differences: unknown[] = [];
    let refused = 0;
    const schemas = new Map<string, string>();
    for (const { path, value, createBody } of generateWrongBodies(exampleOf(operation)!)) {
      const at = path.join();
      if (!schemas.has(at)) schemas.set(at, schemaAt(operation, path));
      if (!isNewValue(schemas.get(at)!, value)) continue;
      const body = createBody();
      const rest = await sendByRest(operation, '', body);
      if (!rest) continue;
      for (const message of withGraphqlTerms(rest.errors)) terms.add(message);
      if (rest.status !== 400) continue;
      refused++;
      if (!isNewRejection(rest, value, fields, at)) continue;
      for (const as of SPELLINGS) {
        const graphql = await sendByGraphql(operation, body, as);
        for (const message of withGraphqlTerms(graphql?.errors ?? [])) terms.add(message);
        if (isValueForList(rest)) continue;
        if (JSON.stringify(withoutUnknownFields(graphql)) !== JSON.stringify(rest))
          differences.push({ path, as, rest, graphql });
      }
    }
    expect([...terms]).toEqual([]);
    expect(differences).toEqual([]);
    expect(refused).toBeGreaterThan(0);
  });

  it.each(['[]', '"x"', '7', 'null', 'true'])(
    'has a message that the body must be an object when it is %s (ERR-5)',
    async (body) => {
      const failure = await sendByRest(operation, '', JSON.parse(body));
      expect(failure?.errors).toEqual([{ fieldName: 'body', message: 'must be an object' }]);
    },
  );
});

describe.each(withQuery)('$method $path, whatever is wrong in the query', (operation) => {
  it('has a message about the valid values of the parameter, and the same error through GraphQL (ERR-24)', async () => {
    const names = locateArguments(operation, schema)
      .filter(({ location }) => location !== 'path' && location !== 'header')
      .map(({ name }) => name);
    const errors: FieldError[] = [];
    const fields = new Set<string>();
    for (const name of names) {
      errors.push(...((await sendByRest(operation, `?${name}=x&${name}=y`))?.errors ?? []));
      for (const text of WRONG_TEXTS) {
        const rest = await sendByRest(operation, `?${name}=${encodeURIComponent(text)}`);
        errors.push(...(rest?.errors ?? []));
        if (!rest?.errors.some(({ fieldName }) => fieldName === name)) continue;
        if (!isNewRejection(rest, text, fields, name)) continue;
        for (const as of SPELLINGS)
          expect(await sendByGraphql(operation, { [name]: text }, as), `${name}=${text} as ${as}`).toEqual(rest);
      }
    }
    expect(withGraphqlTerms(errors)).toEqual([]);
    expect(errors.length).toBeGreaterThan(0);
  });
});

/** Returns some bodies with wrong input, of other values and fields each, or queries without parameters and with all wrong. */
function listWrongInputs(operation: Operation): { query: string; body?: object; input: object }[] {
  const example = exampleOf(operation);
  if (example) {
    const bodies = [...generateWrongBodies(example)].filter((_, at) => at % 14 === 3).slice(0, 3);
    return bodies.map(({ createBody }) => ({ query: '', body: createBody(), input: createBody() }));
  }
  const names = locateArguments(operation, schema).filter(({ location }) => location === 'query');
  const query = `?${names.map(({ name }) => `${name}=%7B%7D`).join('&')}`;
  return [
    { query: '', input: {} },
    { query, input: Object.fromEntries(names.map(({ name }) => [name, '{}'])) },
  ];
}

const hasBuilder = (operation: Operation) => rootField(operation).args.some(({ name }) => name === 'builderId');

describe.each(operations)('$method $path with wrong input', (operation) => {
  async function expectSameDenial(caller: Caller, expected: Partial<Failure>): Promise<void> {
    for (const { query, body, input } of listWrongInputs(operation)) {
      const rest = await sendByRest(operation, query, body, caller);
      expect(rest).toMatchObject(expected);
      for (const as of SPELLINGS) {
        const graphql = await sendByGraphql(operation, input, as, caller);
        expect({ as, input, ...graphql }).toEqual({ as, input, ...rest });
      }
    }
  }

  it.runIf(operation.scope)('is the same 403 without the scope (ERR-23, ERR-24)', async () => {
    await expectSameDenial(await callerWithoutScope(operation), { status: 403, code: 'INSUFFICIENT_SCOPE' });
  });

  it.runIf(hasBuilder(operation) && !operation.builderIsInput)(
    'is the same 403 for a builder that is not connected (ERR-23, ERR-24)',
    async () => {
      await expectSameDenial(callerOfAnotherBuilder(), { status: 403, code: 'FORBIDDEN' });
    },
  );
});

describe('an invalid literal of a GraphQL document', () => {
  const errorsOf = async (query: string) =>
    (await service.graphql(token, query)).errors!.flatMap(({ extensions }) => extensions.errors ?? []);

  it.each([
    ['imageAttachment: "x"', [{ fieldName: 'imageAttachment', message: 'must be an object' }]],
    [
      'imageAttachment: { key: 7, regionId: eu1 }',
      [
        { fieldName: 'imageAttachment.key', message: 'must be a string' },
        { fieldName: 'imageAttachment.regionId', message: 'must be one of au1, us1' },
        { fieldName: 'imageAttachment.type', message: 'is required' },
      ],
    ],
    [
      'imageAttachment: { key: "k", regionId: au1, type: attachment, size: 1 }',
      [{ fieldName: 'imageAttachment.size', message: 'is not a field of this object' }],
    ],
    [
      'contentType: 7',
      [
        { fieldName: 'contentType', message: 'must be a string' },
        { fieldName: 'imageAttachment', message: 'give either imageAttachment or imageUrl' },
      ],
    ],
  ])('is described like the same JSON: %s (ERR-4, ERR-8)', async (argument, expected) => {
    const query = `mutation { createPhoto(builderId: "${samples.BuilderId}", fileName: "a.jpg", ${argument}) { id } }`;
    expect(await errorsOf(query)).toEqual(expected);
  });

  it('names the item of a list (ERR-2)', async () => {
    const photos = '[{ externalSourceId: "1" }, { externalSourceId: "2", imageAttachment: 7 }]';
    const input = `builderId: "${samples.BuilderId}", externalSourceId: "p", sourceApp: "a", projectId: "${samples.ProjectId}"`;
    expect(await errorsOf(`mutation { bulkUpsertPhotos(${input}, photos: ${photos}) { folderId } }`)).toEqual([
      { fieldName: 'photos[1].imageAttachment', message: 'must be an object' },
      { fieldName: 'photos[0].imageAttachment', message: 'give either imageAttachment or imageUrl' },
    ]);
  });
});
