import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestAuthenticator } from '../auth/request-authenticator.ts';
import { toApiError } from '../database/errors.ts';
import {
  type ApiError,
  invalidField,
  notFound,
  payloadTooLarge,
  unsupportedMediaType,
  ValidationError,
} from '../shared/errors.ts';
import { bodyEndedEarly } from './bodies/receive-body.ts';
import { describeFailure } from './metrics/failed-request.ts';

/** Sends an error in the documented format. ERR-1, ERR-10, ERR-29. */
export function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  const page = error instanceof ValidationError ? FIELD_ERRORS : `${ERROR_CODES}#${error.code}`;
  // A deprecated operation has links of its own.
  const links = [reply.getHeader('Link'), `<${page}>; rel="help"`].filter(Boolean).join(', ');
  return reply
    .code(error.status)
    .headers({ ...error.headers, Link: links })
    .send(error.body());
}

/** The pages of the guides that explain an error. */
const FIELD_ERRORS = '/docs/guides/contract/errors#field-errors';
const ERROR_CODES = '/docs/guides/error-codes';

/** Sends errors of routes in the documented format. Their causes are logged and not sent. */
export function installErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((thrown: FastifyError, request, reply) => sendError(reply, publicError(thrown, request)));
}

/** Returns the public error for an error of a route, and logs the cause of a failure. */
export function publicError(thrown: FastifyError, request: FastifyRequest): ApiError {
  const error = toTransportError(thrown, request) ?? toApiError(thrown);
  request.failure = describeFailure(error);
  if (!error.isRejection) request.log.error({ err: error.cause ?? error }, error.message);
  return error;
}

/** Responds 404 to unknown paths after authentication: without a token the response is 401. */
export function installNotFound(
  app: FastifyInstance,
  { authenticator }: { authenticator: RequestAuthenticator },
): void {
  app.setNotFoundHandler(async (request, reply) => {
    await authenticator.authenticate(request, reply);
    throw notFound('Route');
  });
}

/** Returns the public error for one of Fastify's own errors; null for other errors. */
function toTransportError(error: FastifyError, request: FastifyRequest): ApiError | null {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return payloadTooLarge(request.routeOptions.bodyLimit);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE':
      return unsupportedMediaType('application/json');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalidField('Content-Length', 'does not match the body');
    case 'ECONNRESET':
      return request.raw.readableAborted ? bodyEndedEarly() : null;
    default:
      return null;
  }
}
