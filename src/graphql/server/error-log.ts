import type { FastifyBaseLogger } from 'fastify';
import type { GraphQLError } from 'graphql';
import type { RequestContext } from '../../auth/request-context.ts';
import { describeFailure } from '../../http/metrics/failed-request.ts';
import { ApiError } from '../../shared/errors.ts';
import { formatError } from './errors.ts';

/** Logs the cause of a failure, with the request's id and the operation's name. */
export function logFailure(log: FastifyBaseLogger, thrown: Error, message: string, context: RequestContext): void {
  const { requestId, operation } = context;
  log.error({ err: thrown.cause ?? thrown, requestId, operationName: operation.name }, message);
}

/** Logs the cause of every error of status 500 and above, and notes the first error. */
export function noteErrors(log: FastifyBaseLogger, errors: readonly GraphQLError[], context: RequestContext): void {
  const { operation } = context;
  for (const error of errors) {
    const { message, extensions } = formatError(error.toJSON(), error);
    const { status } = extensions!.http as { status: number };
    operation.failure ??=
      error.originalError instanceof ApiError
        ? describeFailure(error.originalError)
        : { status, code: String(extensions!.code), message: withoutQuotes(message), errors: null };
    if (status >= 500) logFailure(log, error.originalError ?? error, message, context);
  }
}

/** Messages of graphql-js quote the document: names, and in errors of its syntax its texts. */
const withoutQuotes = (message: string): string =>
  message.startsWith('Syntax Error') ? 'The document has a syntax error.' : message.replace(/".*"/s, '*');
