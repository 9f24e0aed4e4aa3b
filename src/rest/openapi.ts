import type { GraphQLSchema } from 'graphql';
import { API_VERSION } from '../../schema/rest.ts';
import type { Operation } from '../../schema/route-table.ts';
import { recordType } from '../../schema/selection.ts';
import { createGuide, TAGS } from './openapi/guide.ts';
import type { ManualOperation } from './openapi/manual-operations/manual-operation.ts';
import { createManualOperations, staticSchemas } from './openapi/manual-operations.ts';
import { describeOperation } from './openapi/operation.ts';
import { listHeaderParameters, parameterComponents } from './openapi/parameters.ts';
import { withRecordedResponses } from './openapi/recorded-responses.ts';
import { createResponseComponents, describeErrorResponses, validationSchemas } from './openapi/responses.ts';
import { findDiscriminators, Schemas } from './openapi/schemas.ts';
import { createSecuritySchemes, describeSecurity } from './openapi/security.ts';
import { createWebhooks } from './openapi/webhooks.ts';
import { createRestSchema } from './projection.ts';

interface DescribedOperation {
  method: string;
  path: string;
  operation: { operationId: string; tags: string[]; responses: Record<string, object> };
}

/**
 * Returns the OpenAPI 3.1 document of all operations for integrators: those of REST, generated from the GraphQL schema and the route
 * table, and the static ones. The same input gives the same text.
 */
export async function createOpenApiDocument(
  schema: GraphQLSchema,
  operations: Operation[],
  baseUrl: string,
  restSchema: GraphQLSchema = createRestSchema(schema),
): Promise<object> {
  const schemas = new Schemas(await findDiscriminators(restSchema));
  const described: DescribedOperation[] = [
    ...createManualOperations(baseUrl).map(describeManualOperation),
    ...operations
      .toSorted(compareByPath)
      .map((operation) => ({ ...operation, operation: describeOperation(operation, restSchema, schemas) })),
  ];
  const used = new Set(described.map(getTag));
  const tags = [...new Set([...Object.keys(TAGS), ...used])].filter((name) => used.has(name));
  for (const { operation } of described) {
    const { operationId, responses } = operation;
    for (const [status, response] of Object.entries(responses)) {
      responses[status] = withRecordedResponses(response, `${operationId} ${status}`, baseUrl);
    }
  }
  const { headers, responses } = createResponseComponents();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Builder Integration API',
      version: API_VERSION,
      summary: 'Construction-management data of builders, for approved integrators.',
      description: createGuide(baseUrl),
      contact: { name: 'The operator of this service', url: `${baseUrl}/docs` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: tags.map((name) => {
      const [description = describeRecords(name, schema, operations), guide] = TAGS[name] ?? [];
      const externalDocs = { description: 'Guide', url: `${baseUrl}/docs/guides/${guide}` };
      return { name, description, ...(guide && { externalDocs }) };
    }),
    'x-tagGroups': groupTags(tags, operations),
    paths: toPaths(described, tags),
    ...(operations.some(({ tag }) => tag === 'Webhooks') && { webhooks: createWebhooks(baseUrl) }),
    components: {
      securitySchemes: createSecuritySchemes(baseUrl),
      parameters: parameterComponents,
      headers,
      responses: Object.fromEntries(
        Object.entries(responses).map(([name, response]) => [name, withRecordedResponses(response, name, baseUrl)]),
      ),
      schemas: sortByName({ ...schemas.components(), ...validationSchemas, ...staticSchemas }),
    },
  };
}

/** Returns the groups of the tags: those of v1, and those of the additions to it. */
function groupTags(tags: string[], operations: Operation[]): { name: string; tags: string[] }[] {
  const additions = new Set(operations.filter(({ extension }) => extension).map(({ tag }) => tag));
  return [
    { name: API_VERSION, tags: tags.filter((tag) => !additions.has(tag)) },
    { name: 'Additions', tags: tags.filter((tag) => additions.has(tag)) },
  ];
}

function describeManualOperation({ method, path, access, ...operation }: ManualOperation): DescribedOperation {
  const authenticated = access !== 'public' && {
    security: describeSecurity(access),
    parameters: [...((operation.parameters as object[]) ?? []), ...listHeaderParameters('optional')],
    responses: {
      ...describeErrorResponses({
        hasScope: access !== null,
        hasResource: path.includes('{'),
        hasBody: method !== 'GET',
        conflicts: [],
        hasQuota: operation.tags[0] === 'Attachments',
      }),
      ...operation.responses,
    },
  };
  return { method, path, operation: { security: [], ...operation, ...authenticated } };
}

const getTag = ({ operation }: DescribedOperation) => operation.tags[0]!;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const compareByPath = (one: Operation, other: Operation) =>
  one.path === other.path
    ? METHODS.indexOf(one.method) - METHODS.indexOf(other.method)
    : one.path < other.path
      ? -1
      : 1;

/** Returns the paths in the order of their operations' tags. */
function toPaths(operations: DescribedOperation[], tags: string[]): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  const rank = (operation: DescribedOperation) => tags.indexOf(getTag(operation));
  for (const { path, method, operation } of operations.toSorted((one, other) => rank(one) - rank(other))) {
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = operation;
  }
  return paths;
}

const sortByName = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)));

/** Returns the description of the records that a read of the tag returns, for a tag that the guide does not describe. */
function describeRecords(tag: string, schema: GraphQLSchema, operations: Operation[]): string | null | undefined {
  const read = operations.find((operation) => operation.tag === tag && operation.kind === 'Query');
  return read && recordType(schema.getQueryType()!.getFields()[read.field]!.type).description;
}
