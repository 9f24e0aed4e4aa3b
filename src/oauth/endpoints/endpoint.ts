import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toApiError } from '../../database/errors.ts';
import { rejectOtherMethods } from '../../http/method-not-allowed.ts';
import { type ApiError, payloadTooLarge, unsupportedMediaType } from '../../shared/errors.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { invalidRequest, OAuthError, toTransportErrorBody } from '../errors.ts';
import { parseFormBody, parseJsonBody, type RequestParameters } from '../parameters.ts';

/** Handles a request with parsed parameters and returns the JSON response. */
export type EndpointHandler = (
  parameters: RequestParameters,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<object>;

/** Maximum body size in bytes. */
export const BODY_LIMIT = 64 * 1024;

const BODY_PARSERS = { 'application/json': parseJsonBody, 'application/x-www-form-urlencoded': parseFormBody };
export const MEDIA_TYPES = Object.keys(BODY_PARSERS);

/** Sets the rate limit, body parsers, headers and error handler of the token, revocation and introspection endpoints. */
export function configureEndpoints(
  app: FastifyInstance,
  { limitAddress }: Pick<OAuthDependencies, 'limitAddress'>,
): void {
  if (limitAddress) app.addHook('onRequest', limitAddress);
  app.removeAllContentTypeParsers();
  for (const [type, parse] of Object.entries(BODY_PARSERS)) {
    const options = { parseAs: 'buffer', bodyLimit: BODY_LIMIT } as const;
    app.addContentTypeParser(type, options, async (_request: FastifyRequest, body: Buffer) => parse(body));
  }
  // RFC 6749 section 5.1. In `onSend`, to cover also errors that hooks outside this plugin throw.
  app.addHook('onSend', async (_request, reply) => {
    reply.headers({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  });
  app.setErrorHandler((thrown: FastifyError, request, reply) => {
    const oauthError = toOAuthError(thrown);
    if (oauthError) return reply.code(oauthError.status).headers(oauthError.headers).send(oauthError.body());
    const error = toApiError(toBodyError(thrown) ?? thrown);
    const body = toTransportErrorBody(error);
    if (!body) throw thrown;
    // The cause is logged and never sent.
    if (!error.isRejection) request.log.error({ err: error.cause ?? error }, error.message);
    return reply.code(error.status).headers(error.headers).send(body);
  });
}

/** Registers an endpoint for POST; every other method gets 405. */
export function registerEndpoint(app: FastifyInstance, url: string, handler: EndpointHandler): void {
  app.route({
    method: 'POST',
    url,
    handler: (request, reply) => handler((request.body as RequestParameters | undefined) ?? new Map(), request, reply),
  });
  rejectOtherMethods(app, [url]);
}

/** Converts an error of the OAuth protocol; null for any other. */
function toOAuthError(thrown: FastifyError): OAuthError | null {
  if (thrown instanceof OAuthError) return thrown;
  const isBodyIncomplete = thrown.code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH';
  return isBodyIncomplete ? invalidRequest('The Content-Length does not match the body.') : null;
}

/** Converts Fastify's body parser errors to those of the API; null for any other. */
function toBodyError({ code }: FastifyError): ApiError | null {
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedMediaType(MEDIA_TYPES.join(' or '));
  return code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? payloadTooLarge(BODY_LIMIT) : null;
}
