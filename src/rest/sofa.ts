import type { DocumentNode, GraphQLSchema } from 'graphql';
import { useSofa } from 'sofa-api';
import type { Operation } from '../../schema/build.ts';
import type { RequestContext } from '../context.ts';
import { restProjection } from './projection.ts';

/** What SOFA's route handler is called with, and where its `execute` leaves the result. */
export interface RestCall {
  context: RequestContext;
  variables: Record<string, unknown>;
  result?: { data?: Record<string, unknown> | null; errors?: readonly Error[] };
}

export type Execute = (document: DocumentNode, call: RestCall) => Promise<NonNullable<RestCall['result']>>;

/** Answers a call: fills in its result. */
export type RouteHandler = (call: RestCall) => Promise<void>;

interface SofaRoute {
  method: string;
  path: string;
  handler: (request: object, serverContext: RestCall) => Promise<unknown>;
}

/**
 * What SOFA is told of every request. Its input handling is lax, so the variables come from `readVariables`; it finds each of
 * its own in the path, undefined, and looks no further.
 */
function requestOf(schema: GraphQLSchema, { kind, field }: Operation) {
  const root = kind === 'Query' ? schema.getQueryType()! : schema.getMutationType()!;
  const params = Object.fromEntries(root.getFields()[field]!.args.map(({ name }) => [name, undefined]));
  return { url: '', body: null, params };
}

/**
 * The route handlers that SOFA generates from the schema, by operation field. SOFA also mounts `/webhook` routes without
 * any check; they are left behind here, because only the operations' own routes are taken out of its router.
 */
export function sofaHandlers(
  schema: GraphQLSchema,
  operations: Operation[],
  execute: Execute,
): Map<string, RouteHandler> {
  const routes = operations.map((operation) => [
    `${operation.kind}.${operation.field}`,
    { method: operation.method, path: operation.path, responseStatus: operation.status },
  ]);
  const router = useSofa({
    basePath: '',
    schema: restProjection(schema),
    routes: Object.fromEntries(routes),
    depthLimit: 8,
    execute: (async ({ document, contextValue }: { document: DocumentNode; contextValue: RestCall }) => {
      contextValue.result = await execute(document, contextValue);
      // SOFA would now build a fetch Response of the result; the empty error list sends it to `errorHandler` instead.
      return { errors: [] };
    }) as never,
    errorHandler: (errors) => {
      if (errors.length > 0) throw errors[0];
      return undefined as never;
    },
  }) as unknown as { __routes: SofaRoute[] };
  const bySignature = new Map(router.__routes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route]));
  return new Map(
    operations.map((operation) => {
      const route = bySignature.get(`${operation.method} ${operation.path}`);
      if (!route) throw new Error(`SOFA made no route for ${operation.method} ${operation.path}.`);
      const request = requestOf(schema, operation);
      return [operation.field, async (call) => void (await route.handler(request, call))];
    }),
  );
}
