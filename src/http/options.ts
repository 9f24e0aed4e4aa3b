import { randomUUID } from 'node:crypto';
import { type FastifyServerOptions, LogController } from 'fastify';
import type { Config } from '../config.ts';
import { notFound } from '../shared/errors.ts';
import { sendClientError } from './client-errors.ts';
import { sendError } from './errors.ts';
import { createServerFactory } from './limits/create-server.ts';
import { loggerOptions } from './metrics/logger-options.ts';

/** Default limit; operations may declare a larger one. LIM-10. */
export const BODY_LIMIT = 1024 * 1024;

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Returns Fastify's options: server, limits, request ids, proxy and logging. */
export function serverOptions(config: Config): FastifyServerOptions {
  return {
    serverFactory: createServerFactory(config),
    bodyLimit: BODY_LIMIT,
    // The types of identifiers reject long ones; Node limits the request line.
    routerOptions: { maxParamLength: 16_384 },
    rewriteUrl: rewriteEncodedUrl,
    clientErrorHandler: sendClientError,
    frameworkErrors: (_error, _request, reply) => {
      sendError(reply, notFound('Route'));
    },
    trustProxy: toTrustProxy(config.trustProxy),
    forceCloseConnections: 'idle',
    // Requests of connections that are still open are answered as usual, and their connections end. Fastify's own response has no `code`.
    return503OnClosing: false,
    genReqId: (request) => {
      const sent = request.headers['x-request-id'];
      return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
    },
    // headers.ts logs one line per response.
    logController: new LogController({ requestIdLogLabel: 'requestId', disableRequestLogging: true }),
    logger: loggerOptions(config),
    // Routes have no JSON schemas for Fastify, whose compilers would take long to load.
    schemaController: { compilersFactory: { buildValidator: rejectSchema, buildSerializer: rejectSchema } },
  };
}

function rejectSchema(): never {
  throw new Error('Routes must not have a JSON schema: inputs are checked by the rules of the GraphQL schema.');
}

/** Maximum characters of a path with percent signs. No path of the service is as long, and decoding 16 KiB takes a millisecond. */
const MAX_ENCODED_PATH = 2_048;

/** Escapes invalid percent signs of the path, so that such a path is checked like any other. A path that is too long becomes an unknown one. */
function rewriteEncodedUrl({ url = '/' }: { url?: string }): string {
  if (!url.includes('%')) return url;
  const path = url.split('?', 1)[0]!;
  if (path.length > MAX_ENCODED_PATH && path.includes('%')) return '/unknown';
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return url.replaceAll('%', '%25');
  }
}

/** Returns Fastify's `trustProxy`: a function for a number of proxies, because Fastify trusts no hop for a number. */
const toTrustProxy = (setting: Config['trustProxy']) =>
  typeof setting === 'number' ? (_address: string, hop: number) => hop < setting : setting;
