import type { ApolloServerPlugin } from '@apollo/server';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { RequestContext } from '../../auth/request-context.ts';
import { compileOperation } from '../engine/compile-operation.ts';
import type { CompiledOperation } from '../engine/execution.ts';

/**
 * Executes queries with compiled code. What cannot be compiled, or has an error, is left to Apollo, which executes it with
 * graphql-js. Compiled code goes when Apollo's document store forgets the document.
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
        // There is none of a name that the document does not know.
        if (operation?.operation !== 'query') return null;
        const { meter, loaders } = contextValue;
        try {
          const answer = await compiledFor(document, request.operationName ?? '')?.execute(
            contextValue,
            request.variables ?? {},
          );
          if (answer && !answer.errors) {
            return { http, body: { kind: 'single', singleResult: { data: answer.data } } };
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
