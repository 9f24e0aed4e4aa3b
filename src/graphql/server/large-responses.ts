import type { ApolloServerPlugin } from '@apollo/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestContext } from '../../auth/request-context.ts';
import { CHUNKED_BYTES, sendJson } from '../../auth/request-usage.ts';

/** Removes large results from Apollo's response: Apollo would serialize each at once. */
export const largeResponses: ApolloServerPlugin<RequestContext> = {
  requestDidStart: async () => ({
    async willSendResponse({ contextValue, response: { body } }) {
      if (contextValue.meter.bytes < CHUNKED_BYTES || body.kind !== 'single') return;
      contextValue.operation.largeResult = body.singleResult;
      body.singleResult = {};
    },
  }),
};

/** Drops a large result, in place of which another response is sent. */
export function dropLargeResult({ operation }: RequestContext): void {
  operation.largeResult = undefined;
}

/** Sends the response of Apollo, or the large result of the request in chunks. */
export function sendResult(payload: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
  const { context } = request;
  const result = context?.operation.largeResult;
  return result ? sendJson(request, reply, result, context!.meter.bytes) : payload;
}
