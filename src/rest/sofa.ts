import type { DocumentNode, GraphQLSchema } from 'graphql';
import { useSofa } from 'sofa-api';
import type { Operation } from '../../schema/route-table.ts';
import { restProjection } from './projection.ts';

interface SofaRoute {
  method: string;
  path: string;
  handler: (request: object, serverContext: object) => Promise<unknown>;
}

/** What SOFA is told of a request that has no input: all that it does with one is to execute its operation. */
const REQUEST = { url: '', body: null, params: {} };

/**
 * The GraphQL operation that SOFA generates from the schema for each route, by root field. Its own handlers are lax about input and
 * answer with what they execute as a fetch Response, so each is called once, to learn what it executes; `readVariables` and the route
 * take their place. SOFA also mounts `/webhook` routes without any check; nothing of its router is served.
 */
export async function sofaDocuments(
  schema: GraphQLSchema,
  operations: Operation[],
): Promise<Map<string, DocumentNode>> {
  const routes = operations.map((operation) => [
    `${operation.kind}.${operation.field}`,
    { method: operation.method, path: operation.path, responseStatus: operation.status },
  ]);
  let executed: DocumentNode | undefined;
  const router = useSofa({
    basePath: '',
    schema: restProjection(schema),
    routes: Object.fromEntries(routes),
    depthLimit: 8,
    execute: (async ({ document }: { document: DocumentNode }) => {
      executed = document;
      // SOFA would now build a fetch Response of the answer; the empty error list sends it to `errorHandler` instead.
      return { errors: [] };
    }) as never,
    errorHandler: (errors) => {
      if (errors.length > 0) throw errors[0];
      return undefined as never;
    },
  }) as unknown as { __routes: SofaRoute[] };
  const bySignature = new Map(router.__routes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route]));
  const documents = new Map<string, DocumentNode>();
  for (const { method, path, field } of operations) {
    executed = undefined;
    await bySignature.get(`${method} ${path}`)?.handler(REQUEST, {});
    if (!executed) throw new Error(`SOFA generated nothing for ${method} ${path}.`);
    documents.set(field, executed);
  }
  return documents;
}
