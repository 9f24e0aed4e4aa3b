import type { GraphQLSchema } from 'graphql';
import { API_VERSION } from '../../schema/rest.ts';
import type { Operation } from '../../schema/route-table.ts';
import { Examples } from './openapi/examples.ts';
import { guide, TAGS } from './openapi/guide.ts';
import { describeOperation } from './openapi/operation.ts';
import { headerParameters, parameterComponents } from './openapi/parameters.ts';
import { withRecordedAnswers } from './openapi/recorded.ts';
import { errorResponses, errorSchemas, responseComponents } from './openapi/responses.ts';
import { Schemas, unionConstants } from './openapi/schemas.ts';
import { securityOf, securitySchemes } from './openapi/security.ts';
import { restProjection } from './projection.ts';
import type { PlainRoute } from './static-operations/route.ts';
import { plainRoutes, plainSchemas } from './static-operations.ts';

interface Entry {
  method: string;
  path: string;
  tag: string;
  operation: { operationId: string; responses: Record<string, object> };
}

/**
 * The OpenAPI 3.1 document of everything that integrators call: the REST operations, from the GraphQL schema and the route
 * table alone, and the plain routes. The same input gives the same text.
 */
export async function openApiDocument(
  schema: GraphQLSchema,
  operations: Operation[],
  baseUrl: string,
): Promise<object> {
  const projection = restProjection(schema);
  const constants = await unionConstants(projection);
  const parts = { schemas: new Schemas(constants), examples: new Examples(constants) };
  const entries: Entry[] = [
    ...plainRoutes(baseUrl).map(describePlainRoute),
    ...operations
      .toSorted(inPathOrder)
      .map((operation) => ({ ...operation, operation: describeOperation(operation, projection, parts) })),
  ];
  const tags = [...new Set([...Object.keys(TAGS), ...entries.map(({ tag }) => tag)])].filter((name) =>
    entries.some(({ tag }) => tag === name),
  );
  for (const { operation } of entries) {
    const { operationId, responses } = operation;
    for (const [status, response] of Object.entries(responses)) {
      responses[status] = withRecordedAnswers(response, `${operationId} ${status}`, baseUrl);
    }
  }
  const paths = pathsOf(entries, tags);
  const { headers, responses } = responseComponents();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Builder Integration API',
      version: API_VERSION,
      summary: 'Construction-management data of builders, for approved integrators.',
      description: guide(baseUrl),
      contact: { name: 'The operator of this service', url: `${baseUrl}/docs` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: tags.map((name) => ({ name, ...(name in TAGS && { description: TAGS[name] }) })),
    paths,
    components: {
      securitySchemes: securitySchemes(baseUrl),
      parameters: usedIn(paths, 'parameters', parameterComponents),
      headers,
      responses: usedIn(
        paths,
        'responses',
        Object.fromEntries(
          Object.entries(responses).map(([name, response]) => [name, withRecordedAnswers(response, name, baseUrl)]),
        ),
      ),
      schemas: sorted({ ...parts.schemas.components(), ...errorSchemas, ...plainSchemas }),
    },
  };
}

function describePlainRoute({ method, path, access, operation }: PlainRoute): Entry {
  const guarded = access !== 'public' && {
    security: securityOf(access),
    parameters: [...((operation.parameters as object[]) ?? []), ...headerParameters('optional')],
    responses: {
      ...errorResponses({
        scoped: access !== null,
        hasResource: path.includes('{'),
        hasBody: method !== 'GET',
        conflicts: [],
        hasQuota: operation.tags[0] === 'Attachments',
      }),
      ...operation.responses,
    },
  };
  return { method, path, tag: operation.tags[0], operation: { security: [], ...operation, ...guarded } };
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const inPathOrder = (one: Operation, other: Operation) =>
  one.path === other.path
    ? METHODS.indexOf(one.method) - METHODS.indexOf(other.method)
    : one.path < other.path
      ? -1
      : 1;

/** In the order of their tags, and within one as they come. */
function pathsOf(entries: Entry[], tags: string[]): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  const rank = ({ tag }: Entry) => tags.indexOf(tag);
  for (const { path, method, operation } of entries.toSorted((one, other) => rank(one) - rank(other))) {
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = operation;
  }
  return paths;
}

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)));

/** The components that the paths refer to. */
function usedIn<T>(paths: object, section: string, components: Record<string, T>): Record<string, T> {
  const text = JSON.stringify(paths);
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => text.includes(`"#/components/${section}/${name}"`)),
  );
}
