import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toLoggedPath } from './logged-path.ts';

/** Logs the line of a request. */
export function logRequest(request: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): void {
  const { context } = request;
  request.log.info(
    {
      method: request.method,
      path: toLoggedPath(request.url),
      route: request.routeOptions.url,
      status: statusCode,
      operation: context?.operation.name ?? undefined,
      milliseconds: Math.round(elapsedTime),
      // Records times selected fields.
      cost: context?.meter.fields,
      integratorId: context?.caller.integratorId ?? undefined,
      clientId: context?.caller.clientId,
      builderId: context?.builderHeader ?? undefined,
      address: request.ip,
    },
    'request',
  );
}

/** Logs an error line for a response of status 500 and above. Its cause is logged separately. */
export function logFailure({ method, url, context, log }: FastifyRequest, status: number): void {
  const operationName = context?.operation.name ?? undefined;
  log.error({ method, path: toLoggedPath(url), status, operationName }, 'request failed');
}

/**
 * Logs rejections that nothing waits for, such as those of a list whose execution graphql-js has ended because another item failed. By
 * default Node would exit, and end the requests of all clients.
 */
export function logUnhandledRejections({ log }: FastifyInstance): void {
  process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled rejection'));
}
