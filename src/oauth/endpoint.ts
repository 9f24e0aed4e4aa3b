import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { invalidRequest, methodNotAllowed, OAuthError } from './errors.ts';
import { type Parameters, readForm, readJson } from './parameters.ts';
import type { OAuthParts } from './parts.ts';

/** Answers a request whose body has the right shape; what it returns is sent as JSON. */
export type EndpointHandler = (parameters: Parameters, request: FastifyRequest, reply: FastifyReply) => Promise<object>;

/** Bytes of a body: a few short parameters. */
const BODY_LIMIT = 64 * 1024;

const TYPES = { 'application/json': readJson, 'application/x-www-form-urlencoded': readForm };

/** Budget, bodies, headers and errors that the token, revocation and introspection endpoints share. */
export function prepareEndpoints(app: FastifyInstance, { limitAddress }: Pick<OAuthParts, 'limitAddress'>): void {
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
  app.setErrorHandler((thrown: FastifyError, _request, reply) => {
    const error = asOAuthError(thrown);
    if (!error) throw thrown;
    return reply.code(error.status).headers(error.headers).send(error.body());
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
    throw methodNotAllowed();
  };
  const others = app.supportedMethods.filter((method) => method !== 'POST');
  // Refused before the body is read.
  app.route({ method: others, url, exposeHeadRoute: false, onRequest: refuse, handler: refuse });
}

/** Our own errors and Fastify's refusals of a body; null for what is the outer error handler's. */
function asOAuthError(thrown: FastifyError): OAuthError | null {
  if (thrown instanceof OAuthError) return thrown;
  switch (thrown.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return invalidRequest(`The body must be ${Object.keys(TYPES).join(' or ')}.`);
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return invalidRequest(`The body may have at most ${BODY_LIMIT} bytes.`, 413);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalidRequest('The Content-Length does not match the body.');
    default:
      return null;
  }
}
