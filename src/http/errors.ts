import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toApiError } from '../database/errors.ts';
import { type ApiError, invalidField, notFound, payloadTooLarge, unsupportedMediaType } from '../shared/errors.ts';

/** Sends an error in the documented shape. ERR-1, ERR-10. */
export function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  return reply.code(error.status).headers(error.headers).send(error.body());
}

/** Errors of the routes in the documented shape; causes go to the log and never to the client. */
export function installErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((thrown: FastifyError, request, reply) => {
    return sendError(reply, publicError(thrown, request));
  });
}

/** What a client sees of an error of a route; the cause goes to the log. */
export function publicError(thrown: FastifyError, request: FastifyRequest): ApiError {
  const error = transportError(thrown, request) ?? toApiError(thrown);
  if (error.status >= 500) request.log.error({ err: error.cause ?? error }, error.message);
  return error;
}

/** 404 for a path that is none of ours, once the caller has come in: without a token the answer is 401 all the same. */
export function installNotFound(
  app: FastifyInstance,
  enter: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  app.setNotFoundHandler(async (request, reply) => {
    await enter(request, reply);
    throw notFound('Route');
  });
}

/** Fastify's own refusals, and a peer that went away. */
function transportError(error: FastifyError, request: FastifyRequest): ApiError | null {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return payloadTooLarge(request.routeOptions.bodyLimit);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return unsupportedMediaType('application/json');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalidField('Content-Length', 'does not match the body');
    default:
      return null;
  }
}
