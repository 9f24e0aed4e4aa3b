import { type DocumentNode, type GraphQLSchema, Kind } from 'graphql';
import { useSofa } from 'sofa-api';
import type { Operation } from '../../schema/route-table.ts';
import { listSofaHandlers } from '../node-internals/sofa-routes.ts';

/** A request without input. */
const EMPTY_REQUEST = { url: '', body: null, params: {} };

/**
 * Returns the GraphQL operation that SOFA generates from the schema of REST for each route, by root field. SOFA's own handlers coerce their
 * input and respond with a fetch Response. So `RestSteps` serves the requests, and each handler of SOFA is called only once, to
 * obtain the document that it executes. SOFA also mounts `/webhook` routes without any check; no route of its router is served.
 */
export async function generateOperationDocuments(
  restSchema: GraphQLSchema,
  operations: Operation[],
): Promise<Map<string, DocumentNode>> {
  const routes = operations.map((operation) => [
    `${operation.kind}.${operation.field}`,
    { method: operation.method, path: operation.path, responseStatus: operation.status },
  ]);
  // For each argument SOFA looks up its description, which nothing uses, in the definition of the root type: it would print and parse it.
  for (const type of [restSchema.getQueryType()!, restSchema.getMutationType()!])
    type.astNode = { kind: Kind.OBJECT_TYPE_DEFINITION, name: { kind: Kind.NAME, value: type.name }, fields: [] };
  let executed: DocumentNode | undefined;
  const handlers = listSofaHandlers(
    useSofa({
      basePath: '',
      schema: restSchema,
      routes: Object.fromEntries(routes),
      depthLimit: 8,
      execute: (async ({ document }: { document: DocumentNode }) => {
        executed = document;
        // An error list, though empty, makes SOFA call `errorHandler` in place of building a fetch Response.
        return { errors: [] };
      }) as never,
      errorHandler: (errors) => {
        if (errors.length > 0) throw errors[0];
        return undefined as never;
      },
    }),
  );
  const documents = new Map<string, DocumentNode>();
  for (const { method, path, field } of operations) {
    executed = undefined;
    await handlers.get(`${method} ${path}`)?.(EMPTY_REQUEST, {});
    if (!executed) throw new Error(`SOFA generated nothing for ${method} ${path}.`);
    documents.set(field, executed);
  }
  return documents;
}
