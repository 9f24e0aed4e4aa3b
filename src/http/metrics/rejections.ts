import type { FastifyRequest } from 'fastify';
import type { RejectedRequest } from '../../domain/request-log/request-log.ts';
import type { ApiError } from '../../shared/errors.ts';

/** What the request log says about a rejection. */
interface RejectionReason {
  status: number;
  code: string;
  reason: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request was rejected. */
    rejection?: RejectionReason;
  }
}

/**
 * Returns status, code and reason of a rejection; the reason names missing scopes: `scope missing: read:photos`. It quotes no text of the
 * request, as the parser of GraphQL does, because every staff user reads it.
 */
export function describeRejection({
  status,
  code,
  message,
}: Pick<ApiError, 'status' | 'code' | 'message'>): RejectionReason {
  if (code === 'GRAPHQL_PARSE_FAILED') return { status, code, reason: 'The document has a syntax error.' };
  const scope = code === 'INSUFFICIENT_SCOPE' && /(\w+:\w+ ?)+(?=\.$)/.exec(message)?.[0];
  if (!scope) return { status, code, reason: message };
  const isConnection = message.includes('connection');
  return {
    status,
    code,
    reason: isConnection ? `scope missing in the connection: ${scope}` : `scope missing: ${scope}`,
  };
}

/** Returns what the request log keeps of a rejected request; null where a failure of the service is the reason. */
export function toRejectedRequest(
  { id, method, routeOptions, context, caller }: FastifyRequest,
  statusCode: number,
  reason: RejectionReason | undefined,
): RejectedRequest | null {
  const rejection = reason ?? { status: statusCode, code: String(statusCode), reason: 'rejected' };
  if (rejection.status >= 500) return null;
  const { name } = context?.operation ?? {};
  const isGraphql = name && routeOptions.url === '/graphql';
  const operation = isGraphql ? `graphql ${name}` : `${method} ${routeOptions.url ?? 'unknown path'}`;
  return { ...rejection, clientId: caller!.clientId, operation, requestId: id };
}
