import type { ApolloServerPlugin, GraphQLRequestContextResponseForOperation } from '@apollo/server';
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';
import type { RequestContext } from '../../auth/request-context.ts';
import { compileOperation } from '../engine/compile-operation.ts';
import type { CompiledOperation } from '../engine/execution.ts';

/**
 * Returns the result of a query, by calling `run` or otherwise; null for a query that Apollo executes.
 */
export type ExecuteQuery = (
  request: GraphQLRequestContextResponseForOperation<RequestContext>,
  run: () => Promise<ExecutionResult | null>,
) => Promise<ExecutionResult | null>;

/**
 * Executes queries with compiled code. Apollo executes other operations, and those that fail, with graphql-js. The compiled code of a
 * document is garbage-collected once Apollo's document store has dropped the document.
 */
export function compiledQueries(
  schema: GraphQLSchema,
  executeQuery: ExecuteQuery = (_, run) => run(),
): ApolloServerPlugin<RequestContext> {
  const compiled = new WeakMap<DocumentNode, Map<string, CompiledOperation | null>>();

  const compiledFor = (document: DocumentNode, operationName: string): CompiledOperation | null => {
    const operations = compiled.get(document) ?? new Map<string, CompiledOperation | null>();
    compiled.set(document, operations);
    let operation = operations.get(operationName);
    if (operation === undefined) {
      operation = compileOperation(schema, document, operationName || null);
      operations.set(operationName, operation);
    }
    return operation;
  };

  return {
    requestDidStart: async () => ({
      async responseForOperation(requestContext) {
        const { document, operation, request, contextValue } = requestContext;
        const { http } = requestContext.response;
        // It is undefined for an operation name that the document does not have.
        if (operation?.operation !== 'query') return null;
        const { meter, loaders } = contextValue;
        try {
          const compiledOperation = compiledFor(document, request.operationName ?? '');
          const result =
            compiledOperation &&
            (await executeQuery(requestContext, () =>
              compiledOperation.execute(contextValue, request.variables ?? {}),
            ));
          if (result && !result.errors) {
            return { http, body: { kind: 'single', singleResult: { data: result.data } } };
          }
        } catch (error) {
          // `costLimits` sends the rejection.
          if (meter.rejection) return { http, body: { kind: 'single', singleResult: {} } };
          throw error;
        }
        loaders.reset();
        meter.beginInterpreted();
        return null;
      },
    }),
  };
}
