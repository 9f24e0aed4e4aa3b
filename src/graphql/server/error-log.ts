import type { FastifyBaseLogger } from 'fastify';
import type { GraphQLError } from 'graphql';
import type { RequestContext } from '../../auth/request-context.ts';
import { describeRejection } from '../../http/metrics/rejections.ts';
import { formatError } from './errors.ts';

/** Logs the cause of a failure, with the request's id and the operation's name. */
export function logFailure(log: FastifyBaseLogger, thrown: Error, message: string, context: RequestContext): void {
  const { requestId, operation } = context;
  log.error({ err: thrown.cause ?? thrown, requestId, operationName: operation.name }, message);
}

/** Logs the cause of every error of status 500 and above, and notes the first of the others. */
export function noteErrors(log: FastifyBaseLogger, errors: readonly GraphQLError[], context: RequestContext): void {
  const { operation } = context;
  operation.hasErrors = true;
  for (const error of errors) {
    const { message, extensions } = formatError(error.toJSON(), error);
    const { status } = extensions!.http as { status: number };
    if (status < 500) operation.rejection ??= describeRejection({ status, code: String(extensions!.code), message });
    else logFailure(log, error.originalError ?? error, message, context);
  }
}
