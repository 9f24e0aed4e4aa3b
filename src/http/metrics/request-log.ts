import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseRegion } from '../../auth/request-authenticator.ts';
import type { RequestLog } from '../../domain/request-log/request-log.ts';
import type { ApiError } from '../../shared/errors.ts';

/** What the usage log says about a rejection. */
interface RejectionReason {
  status: number;
  code: string;
  reason: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request was rejected. */
    rejection: RejectionReason | null;
  }
}

/** Returns the reason of a rejection in words: `scope missing: read:photos`. */
export function describeRejection({
  status,
  code,
  message,
}: Pick<ApiError, 'status' | 'code' | 'message'>): RejectionReason {
  const scope = code === 'INSUFFICIENT_SCOPE' && /(\w+:\w+)\.$/.exec(message)?.[1];
  if (!scope) return { status, code, reason: message };
  const isConnection = message.includes('connection');
  return {
    status,
    code,
    reason: isConnection ? `scope missing in the connection: ${scope}` : `scope missing: ${scope}`,
  };
}

/** Adds hooks that count the requests of integrators, with the reasons of rejections. CON-10. */
export function countRequests(app: FastifyInstance, log: RequestLog): void {
  app.decorateRequest('rejection', null);
  app.addHook('onResponse', (request, reply, done) => {
    const integratorId = request.caller?.integratorId;
    if (integratorId) {
      const rejection = toRejection(request, reply);
      log.add(parseRegion(request), integratorId, reply.statusCode >= 500, rejection);
    }
    done();
  });
  app.addHook('onClose', () => log.close());
}

function toRejection(request: FastifyRequest, { statusCode }: FastifyReply) {
  const rejection = request.rejection ?? request.context?.operation.rejection ?? null;
  if (!rejection && (statusCode < 400 || statusCode >= 500)) return null;
  const { status, code, reason } = rejection ?? { status: statusCode, code: String(statusCode), reason: 'rejected' };
  if (status >= 500) return null;
  const { method, routeOptions, context, caller } = request;
  const route = `${method} ${routeOptions.url ?? 'unknown path'}`;
  const operation =
    context?.operation.name && routeOptions.url === '/graphql' ? `graphql ${context.operation.name}` : route;
  return { clientId: caller!.clientId, operation, status, code, reason, requestId: request.id };
}
