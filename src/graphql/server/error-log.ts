import type { ApolloServerPlugin } from '@apollo/server';
import type { FastifyBaseLogger } from 'fastify';
import type { RequestContext } from '../../auth/request-context.ts';
import { describeRejection } from '../../http/metrics/request-log.ts';
import { formatError } from './errors.ts';

/** Characters of an operation's name in the log. */
const MAX_NAME = 100;

/** Logs the cause of every GraphQL error of status 500 and above, with the request's id and the operation's name. */
export function logErrors(log: FastifyBaseLogger): ApolloServerPlugin<RequestContext> {
  const logFailure = (thrown: Error, message: string, requestId: string, operationName: string | null) =>
    log.error({ err: thrown.cause ?? thrown, requestId, operationName }, message);
  return {
    // Apollo calls this for errors outside of parsing, validation and execution; their status is 500.
    async unexpectedErrorProcessingRequest({ requestContext: { contextValue, request }, error }) {
      logFailure(error, 'unexpected error', contextValue.requestId, request.operationName ?? null);
    },
    async requestDidStart({ contextValue, request }) {
      contextValue.operation.name = request.operationName?.slice(0, MAX_NAME) ?? null;
      return {
        async didResolveOperation({ operationName }) {
          contextValue.operation.name = operationName?.slice(0, MAX_NAME) ?? null;
        },
        async didEncounterErrors({ errors }) {
          contextValue.operation.hasErrors = true;
          for (const error of errors) {
            const { message, extensions } = formatError(error.toJSON(), error);
            const { status } = extensions!.http as { status: number };
            if (status < 500) {
              contextValue.operation.rejection ??= describeRejection({
                status,
                code: String(extensions!.code),
                message,
              });
              continue;
            }
            const { originalError: thrown = error } = error;
            logFailure(thrown, message, contextValue.requestId, contextValue.operation.name);
          }
        },
      };
    },
  };
}
