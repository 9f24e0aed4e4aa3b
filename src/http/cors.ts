import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Browser origins that may read responses. */
interface Origins {
  has(origin: string): Promise<boolean>;
}

/**
 * Routes without CORS: pages of this origin, introspection (which requires a client secret), operators' routes, and routes that set their
 * own headers (the OpenAPI document, signed URLs).
 */
const ROUTES_WITHOUT_CORS =
  /^\/(?:oauth\/(?!(?:token|revoke)$)|docs(?:\/|$)|health\/|metrics$|openapi\.json$|storage\/|reports\/|account\/|console(?:\/|$)|$)/;

const NO_CORS: FastifyCorsOptions = { origin: false };

const CORS: FastifyCorsOptions = {
  methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
  exposedHeaders: [
    'X-Request-Id',
    'X-Service-Api-Version',
    'Retry-After',
    'WWW-Authenticate',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
  ],
  // Seconds that browsers cache a preflight.
  maxAge: 600,
  credentials: false,
};

/**
 * CORS without credentials, for the registered origins of public clients: on the API, token, revocation and metadata routes.
 * Preflights need no authentication. ACC-18, ACC-19.
 */
export async function installCors(app: FastifyInstance, origins: Origins): Promise<void> {
  await app.register(cors, {
    delegator: (request: FastifyRequest, done: (error: Error | null, options: FastifyCorsOptions) => void) => {
      const { origin } = request.headers;
      if (
        origin === undefined ||
        ROUTES_WITHOUT_CORS.test(decodePath(request.url)) ||
        isOptionsWithoutPreflight(request)
      ) {
        done(null, NO_CORS);
        return;
      }
      origins.has(origin).then(
        // The response to an unregistered origin names none, so that browsers do not expose it.
        (registered) => done(null, { ...CORS, origin: registered ? origin : [] }),
        (error) => done(error, NO_CORS),
      );
    },
  });
}

/** Returns the decoded path, as the router does: `/%6Fauth/introspect` has the route of `/oauth/introspect`. */
function decodePath(url: string): string {
  const path = url.split('?', 1)[0]!;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Whether a request is OPTIONS without being a preflight. */
const isOptionsWithoutPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers['access-control-request-method'] === undefined;
