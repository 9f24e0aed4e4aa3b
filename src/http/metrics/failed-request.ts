import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FailedRequest, FailureReason } from '../../domain/request-log/request-log.ts';
import { type ApiError, ValidationError } from '../../shared/errors.ts';
import { type InputNames, maskFieldName } from './input-names.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request failed. */
    failure?: FailureReason;
  }
}

/** Characters of a message and of a path into the input. */
const MAX_TEXT = 300;

/** Returns why a request failed, without values of it. REQ-4. */
export function describeFailure(error: ApiError): FailureReason {
  const { status, code } = error;
  return error instanceof ValidationError
    ? { status, code, message: null, errors: error.errors }
    : { status, code, message: error.rule, errors: null };
}

/** Returns what the request log keeps of a request that failed. REQ-1, REQ-4. */
export function toFailedRequest(
  request: FastifyRequest,
  { statusCode, elapsedTime }: FastifyReply,
  path: string,
  names: InputNames,
): FailedRequest {
  const { id: requestId, method, routeOptions, context, caller } = request;
  // The error passed no handler of ours, such as one of Apollo Server for what is no GraphQL request.
  const unexplained = {
    status: statusCode,
    code: statusCode >= 500 ? 'INTERNAL' : 'BAD_REQUEST',
    message: null,
    errors: null,
  };
  const { status, code, message, errors } = request.failure ?? context?.operation.failure ?? unexplained;
  const builderId = context?.builderHeader ?? context?.builderId ?? context?.operation.builderId ?? caller!.builderId;
  return {
    requestId,
    method,
    path,
    graphqlOperation: routeOptions.url === '/graphql' ? toGraphqlName(context?.operation.name) : null,
    tool: context?.operation.tool ?? null,
    status,
    code,
    message: message && toStorable(message),
    errors:
      errors?.map((error) => ({
        fieldName: toStorable(maskFieldName(error.fieldName, names)),
        message: toStorable(error.message),
      })) ?? null,
    // Others are values that the client has sent.
    builderId: builderId != null && caller!.isConnectedTo(builderId) ? builderId : null,
    durationMs: Math.round(elapsedTime),
  };
}

/** Returns the name of a GraphQL operation; null for a text that is none, which a client may send as its name. */
const toGraphqlName = (name: string | null | undefined): string | null =>
  name && /^\w{1,100}$/.test(name) ? name : null;

/** Returns the beginning of a text without what JSON of PostgreSQL rejects. */
const toStorable = (text: string): string => text.slice(0, MAX_TEXT).toWellFormed().replaceAll('\0', '');
