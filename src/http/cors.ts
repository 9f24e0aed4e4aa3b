import type { FastifyReply, FastifyRequest } from 'fastify';

/** Browser origins that may read responses. */
export interface Origins {
  has(origin: string): Promise<boolean>;
}

/**
 * Routes without CORS: pages of this origin, introspection (which requires a client secret), operators' routes, and routes that set their
 * own headers (the OpenAPI document, signed URLs).
 */
const ROUTES_WITHOUT_CORS =
  /^\/(?:oauth\/(?!(?:token|revoke)$)|docs(?:\/|$)|health\/|metrics$|openapi\.json$|storage\/|reports\/|account\/|console(?:\/|$)|$)/;

const EXPOSED_HEADERS = [
  // A gate in a browser compares the times of its events with it (ATT-3).
  'Date',
  'X-Request-Id',
  'X-Service-Api-Version',
  'Retry-After',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Idempotency-Replayed',
].join(', ');

const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
  // Seconds that browsers cache a preflight.
  'access-control-max-age': '600',
  'content-length': '0',
  vary: 'Origin, Access-Control-Request-Headers',
};

/**
 * CORS without credentials, for the registered origins of public clients: on the API, token, revocation and metadata routes. Preflights need no
 * authentication. Adds the headers to the response of a request with an Origin, and answers a preflight. ACC-18, ACC-19.
 */
export function allowOrigin(
  origins: Origins,
  { url, method, headers }: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  // As the router does: `/%6Fauth/introspect` has the route of `/oauth/introspect`. `rewriteEncodedUrl` leaves no path that cannot be decoded.
  const path = decodeURIComponent(url.split('?', 1)[0]!);
  if (ROUTES_WITHOUT_CORS.test(path) || (method === 'OPTIONS' && !isPreflight)) {
    done();
    return;
  }
  const origin = headers.origin!;
  origins.has(origin).then((isRegistered) => {
    // The response to an unregistered origin names none, so that browsers do not expose it.
    if (isRegistered) reply.header('access-control-allow-origin', origin);
    reply.header('access-control-expose-headers', EXPOSED_HEADERS);
    if (!isPreflight) {
      done();
      return;
    }
    const requested = headers['access-control-request-headers'];
    if (requested !== undefined) reply.header('access-control-allow-headers', requested);
    reply.code(204).headers(PREFLIGHT_HEADERS).send();
  }, done);
}
