import type { ApolloServerPlugin } from '@apollo/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestContext } from '../../auth/request-context.ts';
import { CHUNKED_BYTES, sendJson } from '../../auth/request-usage.ts';

/** Results that are serialized in chunks, by the usage of their request: Apollo copies the context itself. */
const results = new WeakMap<object, unknown>();

/** Takes large results out of Apollo's hands, which would serialize each in one piece. */
export const largeResponses: ApolloServerPlugin<RequestContext> = {
  requestDidStart: async () => ({
    async willSendResponse({ contextValue, response: { body } }) {
      if (contextValue.meter.bytes < CHUNKED_BYTES || body.kind !== 'single') return;
      results.set(contextValue.usage, body.singleResult);
      body.singleResult = {};
    },
  }),
};

type ApolloHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Sends what Apollo's handler responds with, or the result that `largeResponses` kept. */
export const sendLargeResponses =
  (handle: ApolloHandler): ApolloHandler =>
  async (request, reply) => {
    const payload = await handle(request, reply);
    const { context } = request;
    const result = context && results.get(context.usage);
    return result ? sendJson(request, reply, result, context.meter.bytes) : payload;
  };
