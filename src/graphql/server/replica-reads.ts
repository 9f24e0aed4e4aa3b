import type { ApolloServerPlugin } from '@apollo/server';
import type { RequestContext } from '../../auth/request-context.ts';
import { Loaders } from '../../database/read/loaders.ts';

/**
 * Lets the queries of internal clients read from a standby. Integrators read from the primary, so that they read their own writes.
 * Authorization always reads from the primary. The console chooses by query, because people act on what it shows.
 */
export const replicaReads: ApolloServerPlugin<RequestContext> = {
  requestDidStart: async () => ({
    async didResolveOperation({ operation, contextValue }) {
      if (operation?.operation !== 'query' || !contextValue.caller.internal) return;
      const database = contextValue.database.onReplica();
      // Apollo copies the context, so that the request's own is not changed.
      if (database !== contextValue.database) Object.assign(contextValue, { database, loaders: new Loaders(database) });
    },
  }),
};
