import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CountedRequest, FailedRequest, FailureReason } from '../../domain/request-log/request-log.ts';
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

/** Path of a request to no route. */
const UNKNOWN_PATH = '*';

/** Returns why a request failed, without values of it. REQ-4. */
export function describeFailure(error: ApiError): FailureReason {
  const { status, code } = error;
  return error instanceof ValidationError
    ? { status, code, message: null, errors: error.errors }
    : { status, code, message: error.rule, errors: null };
}

/** Path templates of the contract, by those of Fastify, which are `/builders/:id`. */
const templates = new Map<string, string>();

function toTemplate(url: string | undefined): string {
  if (url === undefined) return UNKNOWN_PATH;
  let template = templates.get(url);
  if (template === undefined) {
    template = url.replace(/:(\w+)/g, '{$1}');
    templates.set(url, template);
  }
  return template;
}

/** Returns whose request it is, and for which operation. */
export function toCountedRequest({ method, routeOptions, context, caller }: FastifyRequest): CountedRequest {
  const name = routeOptions.url === '/graphql' ? toGraphqlName(context?.operation.name) : null;
  return {
    integratorId: caller!.integratorId!,
    clientId: caller!.clientId,
    operation: name ? `graphql ${name}` : `${method} ${toTemplate(routeOptions.url)}`,
  };
}

/** Returns what the request log keeps of a request; null for one that succeeded. REQ-1, REQ-4. */
export function toFailedRequest(
  request: FastifyRequest,
  { statusCode, elapsedTime }: FastifyReply,
  names: InputNames,
): FailedRequest | null {
  const { id: requestId, method, routeOptions, context, caller } = request;
  const reason = request.failure ?? context?.operation.failure;
  if (!reason && statusCode < 400) return null;
  const { status, code, message, errors } = reason ?? UNEXPLAINED(statusCode);
  const builderId = context?.builderHeader ?? context?.builderId ?? context?.operation.builderId ?? caller!.builderId;
  return {
    requestId,
    method,
    path: toTemplate(routeOptions.url),
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

/** What is known of a response whose error passed no handler of ours, such as one of Apollo Server for what is no GraphQL request. */
const UNEXPLAINED = (status: number): FailureReason => ({
  status,
  code: status >= 500 ? 'INTERNAL' : 'BAD_REQUEST',
  message: null,
  errors: null,
});

/** Returns the name of a GraphQL operation; null for a text that is none, which a client may send as its name. */
const toGraphqlName = (name: string | null | undefined): string | null =>
  name && /^\w{1,100}$/.test(name) ? name : null;

/** Returns the beginning of a text without what JSON of PostgreSQL rejects. */
const toStorable = (text: string): string => text.slice(0, MAX_TEXT).toWellFormed().replaceAll('\0', '');
