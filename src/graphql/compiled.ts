import type { ApolloServerPlugin } from '@apollo/server';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { Context } from '../../resolvers/context.ts';
import { compileOperation } from '../../schema/compile.ts';
import type { CompiledOperation } from '../../schema/execution.ts';

/** Uses of a document before it is compiled: what comes once is interpreted in less time. */
const USES = 3;

/** What is known of one document, by the name of the operation that was asked for. */
interface Use {
  times: number;
  compiled?: CompiledOperation | null;
}

/**
 * Answers queries that come again by code of their own. What is not answered without an error is left to Apollo, which executes it
 * with graphql-js. What is compiled goes when Apollo's document store forgets the document.
 */
export function compiledQueries(schema: GraphQLSchema): ApolloServerPlugin<Context> {
  const uses = new WeakMap<DocumentNode, Map<string, Use>>();

  const compiledFor = (document: DocumentNode, operationName: string): CompiledOperation | null => {
    const ofDocument = uses.get(document) ?? new Map<string, Use>();
    uses.set(document, ofDocument);
    const use = ofDocument.get(operationName) ?? { times: 0 };
    ofDocument.set(operationName, use);
    if (++use.times < USES) return null;
    if (use.compiled === undefined) use.compiled = compileOperation(schema, document, operationName || null);
    return use.compiled;
  };

  return {
    requestDidStart: async () => ({
      async responseForOperation({ document, operation, request, response: { http }, contextValue }) {
        // There is none of a name that the document does not know.
        if (operation?.operation !== 'query') return null;
        const compiled = compiledFor(document, request.operationName ?? '');
        const answer = await compiled?.execute(contextValue, request.variables ?? {});
        if (!answer) return null;
        if (!answer.errors) return { http, body: { kind: 'single', singleResult: { data: answer.data } } };
        contextValue.loaders.beginAgain();
        return null;
      },
    }),
  };
}
