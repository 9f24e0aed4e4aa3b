import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { toApiError } from '../../database/errors.ts';
import { rejectOtherMethods } from '../../http/method-not-allowed.ts';
import { type ApiError, payloadTooLarge, unsupportedMediaType } from '../../shared/errors.ts';
import { authenticateClient, type ClientRequest } from '../authenticate-client.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { invalidRequest, OAuthError, toTransportErrorBody } from '../errors.ts';
import { parseFormBody, parseJsonBody, type RequestParameters, requireParameter } from '../parameters.ts';

/** Handles a request of an authenticated client and returns the JSON response; undefined for one without a body. */
export type EndpointHandler = (request: ClientRequest, dependencies: OAuthDependencies) => Promise<object | undefined>;

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

/**
 * Registers an endpoint for POST; every other method gets 405.
 *
 * @param required parameter that is required before the client is authenticated
 */
export function registerEndpoint(
  app: FastifyInstance,
  dependencies: OAuthDependencies,
  url: string,
  required: string,
  handle: EndpointHandler,
): void {
  app.post(url, async (request, reply) => {
    const parameters = (request.body as RequestParameters | undefined) ?? new Map();
    requireParameter(parameters, required);
    return reply.send(await handle(await authenticateClient(dependencies, parameters, request, reply), dependencies));
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
