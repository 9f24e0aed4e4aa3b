import type { ApolloServerPlugin } from '@apollo/server';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { RequestContext } from '../../auth/request-context.ts';
import { compileOperation } from '../engine/compile-operation.ts';
import type { CompiledOperation } from '../engine/execution.ts';

/**
 * Executes queries with compiled code. Apollo executes other operations, and those that fail, with graphql-js. The compiled code of a
 * document is garbage-collected once Apollo's document store has dropped the document.
 */
export function compiledQueries(schema: GraphQLSchema): ApolloServerPlugin<RequestContext> {
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
      async responseForOperation({ document, operation, request, response: { http }, contextValue }) {
        // It is undefined for an operation name that the document does not have.
        if (operation?.operation !== 'query') return null;
        const { meter, loaders } = contextValue;
        try {
          const result = await compiledFor(document, request.operationName ?? '')?.execute(
            contextValue,
            request.variables ?? {},
          );
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
