import type { ApolloServerPlugin } from '@apollo/server';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { RequestContext } from '../../auth/request-context.ts';
import type { Release } from '../../shared/fair-semaphore.ts';
import { costLimitExceeded, MAX_COST, MAX_RESPONSE_BYTES } from '../../shared/response-meter.ts';
import { createCachedCostEstimate } from '../engine/cost.ts';
import { formatError, toGraphqlError } from './errors.ts';

/** Minimum cost that a request is charged to its share. */
const MIN_CHARGE = 300;

/**
 * Rejects requests that cost too much: before the execution by their estimate, and during the execution by the fields and bytes of the
 * response. A request executes once its cost fits its caller's share.
 */
export function createCostLimits(schema: GraphQLSchema): ApolloServerPlugin<RequestContext> {
  /** Cost of past executions by document. Estimates count every page as full. */
  const observedCosts = new WeakMap<DocumentNode, number>();
  const estimateCost = createCachedCostEstimate(schema);

  return {
    requestDidStart: async () => {
      let release: Release | null = null;
      return {
        async didResolveOperation({ document, operation, request, contextValue }) {
          if (!operation) return;
          const estimate = estimateCost(document, operation, request.variables ?? {});
          if (estimate > MAX_COST) {
            throw toGraphqlError(costLimitExceeded('select so many fields of so many records', estimate, MAX_COST));
          }
          contextValue.meter.limit(MAX_COST, MAX_RESPONSE_BYTES);
          const observed = observedCosts.get(document);
          const charge = observed === undefined ? estimate : Math.min(estimate, 2 * observed);
          const { shares, shareKey } = contextValue;
          release = await shares.graphqlCost.acquire(shareKey, Math.max(MIN_CHARGE, charge)).catch((error) => {
            throw toGraphqlError(error);
          });
          contextValue.usage.onEnd(release);
        },
        async willSendResponse({ document, response, contextValue: { meter } }) {
          release?.();
          if (document) {
            const decayed = 0.9 * (observedCosts.get(document) ?? 0);
            observedCosts.set(document, Math.max(meter.cost, decayed));
          }
          if (!meter.rejection) return;
          const error = toGraphqlError(meter.rejection);
          response.http.status = 400;
          response.body = { kind: 'single', singleResult: { errors: [formatError(error.toJSON(), error)] } };
        },
      };
    },
  };
}
