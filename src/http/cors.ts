import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Which browser origins may read our answers. */
export interface Origins {
  has(origin: string): Promise<boolean>;
}

/**
 * Routes that no page of another origin has business with: pages of our own, introspection, which wants a client secret, what
 * operators look at, and what answers for itself (the document, signed URLs).
 */
const CLOSED =
  /^\/(?:oauth\/(?!(?:token|revoke)$)|docs(?:\/|$)|health\/|metrics$|openapi\.json$|storage\/|reports\/|$)/;

const NONE: FastifyCorsOptions = { origin: false };

const OPEN: FastifyCorsOptions = {
  methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
  exposedHeaders: [
    ...['X-Request-Id', 'X-Service-Api-Version', 'Retry-After', 'WWW-Authenticate'],
    ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
  ],
  // Seconds; each answer is looked at again, whatever was said of the next ones.
  maxAge: 600,
  credentials: false,
};

/**
 * CORS without credentials, for the registered origins of public clients: on the API, token, revocation and metadata routes.
 * A preflight is answered before authentication. ACC-18, ACC-19.
 */
export async function installCors(app: FastifyInstance, origins: Origins): Promise<void> {
  await app.register(cors, {
    delegator: (request: FastifyRequest, done: (error: Error | null, options: FastifyCorsOptions) => void) => {
      const { origin } = request.headers;
      if (origin === undefined || CLOSED.test(pathOf(request.url)) || isOtherOptions(request)) {
        done(null, NONE);
        return;
      }
      origins.has(origin).then(
        // An origin of nobody's gets an answer that names no origin, which a browser takes for a no.
        (registered) => done(null, { ...OPEN, origin: registered ? origin : [] }),
        (error) => done(error, NONE),
      );
    },
  });
}

/** The path as the router reads it: `/%6Fauth/introspect` leads to the same route as `/oauth/introspect`. */
function pathOf(url: string): string {
  const path = url.split('?', 1)[0]!;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** An OPTIONS request that is no preflight goes the way of any other method. */
const isOtherOptions = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers['access-control-request-method'] === undefined;
