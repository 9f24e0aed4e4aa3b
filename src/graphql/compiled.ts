import type { ApolloServerOptions } from '@apollo/server';
import { type DocumentNode, type ExecutionArgs, execute, type GraphQLSchema } from 'graphql';
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

type Gateway = NonNullable<ApolloServerOptions<Context>['gateway']>;

/**
 * Executes queries that come again as code of their own. Apollo takes an executor from a gateway only. What is compiled goes when
 * Apollo's document store forgets the document.
 */
export function compiledExecution(schema: GraphQLSchema): Gateway {
  const uses = new WeakMap<DocumentNode, Map<string, Use>>();

  const compiledFor = (document: DocumentNode, operationName: string | null): CompiledOperation | null => {
    const ofDocument = uses.get(document) ?? new Map<string, Use>();
    uses.set(document, ofDocument);
    const use = ofDocument.get(operationName ?? '') ?? { times: 0 };
    ofDocument.set(operationName ?? '', use);
    if (++use.times < USES) return null;
    if (use.compiled === undefined) use.compiled = compileOperation(schema, document, operationName);
    return use.compiled;
  };

  return {
    load: async () => ({
      executor: async ({ document, operation, request, context: contextValue }) => {
        const { operationName = null } = request;
        // There is none of a name that the document does not know.
        const compiled = operation?.operation === 'query' ? compiledFor(document, operationName) : null;
        const variableValues = request.variables ?? {};
        if (!compiled) {
          const args: ExecutionArgs = { schema, document, operationName, contextValue, variableValues };
          return (await execute(args)) as never;
        }
        return (await compiled.execute(contextValue as Context, variableValues)) as never;
      },
    }),
    onSchemaLoadOrUpdate(callback) {
      callback({ apiSchema: schema, coreSupergraphSdl: '' });
      return () => undefined;
    },
    stop: async () => undefined,
  };
}
