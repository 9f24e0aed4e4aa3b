import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toApiError } from '../../database/errors.ts';
import { type ApiError, methodNotAllowed, payloadTooLarge, unsupportedMediaType } from '../../shared/errors.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { invalidRequest, OAuthError, transportErrorBody } from '../errors.ts';
import { type Parameters, readForm, readJson } from '../parameters.ts';

/** Answers a request whose body has the right shape; what it returns is sent as JSON. */
export type EndpointHandler = (parameters: Parameters, request: FastifyRequest, reply: FastifyReply) => Promise<object>;

/** Bytes of a body: a few short parameters. */
const BODY_LIMIT = 64 * 1024;

const TYPES = { 'application/json': readJson, 'application/x-www-form-urlencoded': readForm };

/** Budget, bodies, headers and errors that the token, revocation and introspection endpoints share. */
export function prepareEndpoints(
  app: FastifyInstance,
  { limitAddress }: Pick<OAuthDependencies, 'limitAddress'>,
): void {
  if (limitAddress) app.addHook('onRequest', limitAddress);
  app.removeAllContentTypeParsers();
  for (const [type, read] of Object.entries(TYPES)) {
    const options = { parseAs: 'buffer', bodyLimit: BODY_LIMIT } as const;
    app.addContentTypeParser(type, options, async (_request: FastifyRequest, body: Buffer) => read(body));
  }
  // On every answer, also when a hook outside refuses the request or the database is away. RFC 6749 section 5.1.
  app.addHook('onSend', async (_request, reply) => {
    reply.headers({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  });
  app.setErrorHandler((thrown: FastifyError, request, reply) => {
    const refusal = asOAuthError(thrown);
    if (refusal) return reply.code(refusal.status).headers(refusal.headers).send(refusal.body());
    const error = toApiError(asRefusedBody(thrown) ?? thrown);
    const body = transportErrorBody(error);
    if (!body) throw thrown;
    // The cause is for the log alone.
    if (error.status >= 500) request.log.error({ err: error.cause ?? error }, error.message);
    return reply.code(error.status).headers(error.headers).send(body);
  });
}

/** An endpoint that takes POST; 405 for every other method. */
export function addEndpoint(app: FastifyInstance, url: string, handler: EndpointHandler): void {
  app.route({
    method: 'POST',
    url,
    handler: (request, reply) => handler((request.body as Parameters | undefined) ?? new Map(), request, reply),
  });
  const refuse = async () => {
    throw methodNotAllowed(['POST']);
  };
  const others = app.supportedMethods.filter((method) => method !== 'POST');
  // Refused before the body is read.
  app.route({ method: others, url, exposeHeadRoute: false, onRequest: refuse, handler: refuse });
}

/** An error of the OAuth protocol, or null. */
function asOAuthError(thrown: FastifyError): OAuthError | null {
  if (thrown instanceof OAuthError) return thrown;
  const isCut = thrown.code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH';
  return isCut ? invalidRequest('The Content-Length does not match the body.') : null;
}

/** Fastify's refusal of a body, in the words of these endpoints, or null. */
function asRefusedBody({ code }: FastifyError): ApiError | null {
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedMediaType(Object.keys(TYPES).join(' or '));
  return code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? payloadTooLarge(BODY_LIMIT) : null;
}
