import { readFile } from 'node:fs/promises';
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { toSnakeCase } from '../../entities/columns.ts';
import { Photo } from '../../entities/photo.entity.ts';
import { RenditionSize } from '../../schema/enums.ts';
import type { Operation } from '../../schema/route-table.ts';
import type { JsonSchema } from '../../schema/scalar.ts';
import type { RequestContext } from '../auth/request-context.ts';
import { toApiError } from '../database/errors.ts';
import { inTransaction } from '../domain/change-context.ts';
import { ensureRenditions } from '../domain/photos/render-photo.ts';
import { toRenditionKey } from '../domain/photos/renditions.ts';
import { requireFound } from '../domain/require-found.ts';
import { describeFailure } from '../http/metrics/failed-request.ts';
import { RENDITION_TYPE } from '../images/render.ts';
import { locateInObject } from '../rest/input.ts';
import { type RestDependencies, RestSteps } from '../rest/plugin.ts';
import { type ApiError, invalidField, notFound } from '../shared/errors.ts';

/** An operation of REST as a tool. */
export interface AgentTool {
  definition: Tool;
  operation: Operation;
  steps: RestSteps;
}

/** Operations of machines: uploads of bytes, receivers of webhooks, and gates. */
const EXCLUDED_TAGS = ['Attachments', 'Webhooks', 'Gate attendance'];

/** Names of the headers that are parameters of tools. */
const HEADERS: Record<string, string> = { BuilderId: 'builderId', IdempotencyKey: 'idempotencyKey' };

interface ParameterObject {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: JsonSchema;
}

/** Parts of the OpenAPI document that tools are made of. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, JsonSchema>; parameters: Record<string, ParameterObject> };
}

interface OperationObject {
  summary: string;
  description: string;
  parameters: (ParameterObject & { $ref?: string })[];
  requestBody?: { content: { 'application/json': { schema: JsonSchema } } };
  responses: Record<string, { content?: { 'application/json': { schema: JsonSchema } } }>;
}

/** Returns the tool of each operation, in the order of the route table, with the schemas of the OpenAPI document. */
export const createTools = (openApi: OpenApiDocument, dependencies: RestDependencies): AgentTool[] =>
  dependencies.operations
    .filter(({ tag }) => !EXCLUDED_TAGS.includes(tag))
    .map((operation) => ({
      operation,
      steps: new RestSteps(operation, dependencies, locateInObject(operation, dependencies.schema)),
      definition: describeTool(openApi, operation),
    }));

function describeTool(openApi: OpenApiDocument, { operationId, field, path, method, kind }: Operation): Tool {
  const { summary, description, ...described } = openApi.paths[path]![method.toLowerCase()]!;
  const isList = operationId.startsWith('list');
  const [output] = Object.entries(described.responses).flatMap(([status, { content }]) =>
    Number(status) < 300 && content ? [content['application/json'].schema] : [],
  );
  const input = toInputSchema(openApi, described);
  if (field === IMAGE_FIELD) Object.assign(input.properties as object, { image: IMAGE_ARGUMENT });
  const paging = 'A page has at most 25 records; `meta.nextCursor`, if any, is the `cursor` of the next one.';
  const lengths = `Texts of more than ${MAX_TEXT} characters are shortened in pages of several records.`;
  return {
    name: toSnakeCase(operationId),
    title: summary,
    description: [description, isList && paging, isList && lengths].filter(Boolean).join('\n\n'),
    inputSchema: withDefinitions(openApi, input) as Tool['inputSchema'],
    outputSchema: withDefinitions(openApi, resolve(openApi.components, output!)) as Tool['outputSchema'],
    annotations: {
      readOnlyHint: kind === 'Query',
      idempotentHint: method !== 'POST',
      destructiveHint: method === 'DELETE',
      openWorldHint: false,
    },
  };
}

function toInputSchema(
  { components }: OpenApiDocument,
  { parameters, requestBody }: Pick<OperationObject, 'parameters' | 'requestBody'>,
): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required = new Set<string>();
  for (const parameter of parameters) {
    const component = parameter.$ref?.split('/').at(-1);
    const { name, description, schema, ...keywords } = component ? components.parameters[component]! : parameter;
    const field = component ? HEADERS[component] : name;
    if (field === undefined) continue;
    properties[field] = { ...schema, ...(description && { description }) };
    if (keywords.required) required.add(field);
  }
  const body = requestBody && resolve(components, requestBody.content['application/json'].schema);
  for (const name of (body?.required as string[] | undefined) ?? []) required.add(name);
  Object.assign(properties, body?.properties);
  return { type: 'object', properties, required: [...required] };
}

/** Returns the component that a schema refers to, else the schema. */
const resolve = ({ schemas }: OpenApiDocument['components'], schema: JsonSchema): JsonSchema =>
  typeof schema.$ref === 'string' ? schemas[schema.$ref.split('/').at(-1)!]! : schema;

const COMPONENT = /"#\/components\/schemas\/(\w+)"/g;

/** Returns the schema of an object with the components that it refers to, directly or not, as `$defs`. */
function withDefinitions({ components }: OpenApiDocument, schema: JsonSchema): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const collect = (part: JsonSchema) => {
    for (const [, name] of JSON.stringify(part).matchAll(COMPONENT)) {
      if (name! in definitions) continue;
      definitions[name!] = components.schemas[name!]!;
      collect(components.schemas[name!]!);
    }
  };
  collect(schema);
  const whole = { ...schema, type: 'object', ...(Object.keys(definitions).length > 0 && { $defs: definitions }) };
  return JSON.parse(JSON.stringify(whole).replace(COMPONENT, '"#/$defs/$1"'));
}

/** Maximum characters of a text in a page of several records. */
const MAX_TEXT = 2_000;

/** The operation whose tool returns an image on request, by the argument `image`. */
const IMAGE_FIELD = 'photo';

const IMAGE_ARGUMENT = {
  type: 'string',
  enum: Object.values(RenditionSize),
  description: 'Size of the image to return with the photo, as WebP; without it, no image.',
};

async function readImage(context: RequestContext, { photoId, builderId }: Record<string, unknown>, size: unknown) {
  const sizes: readonly unknown[] = IMAGE_ARGUMENT.enum;
  if (!sizes.includes(size)) throw invalidField('image', `must be one of ${sizes.join(', ')}`);
  const where = { id: String(photoId), builderId: String(builderId) };
  const photo = await requireFound(context.database.fork().findOne(Photo, where), 'Photo');
  await ensureRenditions(context, photo);
  const key = toRenditionKey(photo, size as RenditionSize);
  const data = await context.storage.withFile(key, (path) => readFile(path, 'base64'));
  if (data === null) throw notFound('Image');
  return { type: 'image' as const, data, mimeType: RENDITION_TYPE };
}

/** Calls a tool for the caller of the context, as REST calls its operation. A failure is a result with the code and errors of REST. */
export async function callTool(
  { operation, steps, definition: { name } }: AgentTool,
  args: Record<string, unknown>,
  context: RequestContext,
): Promise<CallToolResult> {
  context.operation.tool = name;
  try {
    const isFirstPage = steps.hasOffset && args.cursor == null && args.offset == null;
    const body = isFirstPage ? { ...args, cursor: '' } : args;
    const input = { params: {}, query: {}, headers: {}, body, context };
    await steps.authorize(input, context);
    const variables = await steps.parseInput(input);
    if (operation.kind === 'Mutation') await recordCall(context, name, variables);
    const result = await steps.execute(variables, input);
    const called = toResult(shortenTexts(steps.toResponse(result, variables, context).body as object));
    if (operation.field === IMAGE_FIELD && args.image !== undefined)
      called.content.push(await readImage(context, variables, args.image));
    return called;
  } catch (thrown) {
    const error: ApiError = toApiError(thrown);
    context.operation.failure = describeFailure(error);
    return { ...toResult({ code: error.code, message: error.message, ...error.body() }), isError: true };
  }
}

const toResult = (structuredContent: object): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
  structuredContent: structuredContent as CallToolResult['structuredContent'],
});

/** Records a write before it is executed: a process that ends between the two must not leave a write without an entry. */
const recordCall = (context: RequestContext, objectId: string, { builderId }: Record<string, unknown>) =>
  inTransaction(context, (_em, _now, record) => {
    const { clientId, userId, integratorId } = context.caller;
    const subject = { objectId, integratorId, builderId: (builderId as string | undefined) ?? null, personId: userId };
    return record({ action: 'tool.called', ...subject, after: { clientId, userId } });
  });

/** Shortens the large texts of a page of several records. The marker says how to read one whole. */
function shortenTexts(body: object): object {
  const { data } = body as { data?: unknown };
  return Array.isArray(data) && data.length > 1 ? JSON.parse(JSON.stringify(body, shorten)) : body;
}

function shorten(_name: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= MAX_TEXT) return value;
  const rest = value.length - MAX_TEXT;
  return `${value.slice(0, MAX_TEXT)}… [${rest} more characters: read this record alone, with limit 1]`.toWellFormed();
}
