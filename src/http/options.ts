import { type FastifyServerOptions, LogController } from 'fastify';
import type { Config } from '../config.ts';
import { notFound } from '../shared/errors.ts';
import { sendClientError } from './client-errors.ts';
import { sendError } from './errors.ts';
import { createServerFactory } from './limits/create-server.ts';
import { loggerOptions } from './metrics/logger-options.ts';
import { rewriteEncodedUrl, selectRequestId } from './request-hooks.ts';

/** Default limit; operations may declare a larger one. LIM-10. */
export const BODY_LIMIT = 1024 * 1024;

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
    genReqId: selectRequestId,
    // `countRequests` logs one line per response.
    logController: new LogController({ requestIdLogLabel: 'requestId', disableRequestLogging: true }),
    logger: loggerOptions(config),
    // Routes have no JSON schemas for Fastify, whose compilers would take long to load.
    schemaController: { compilersFactory: { buildValidator: rejectSchema, buildSerializer: rejectSchema } },
  };
}

function rejectSchema(): never {
  throw new Error('Routes must not have a JSON schema: inputs are checked by the rules of the GraphQL schema.');
}

/** Returns Fastify's `trustProxy`: a function for a number of proxies, because Fastify trusts no hop for a number. */
const toTrustProxy = (setting: Config['trustProxy']) =>
  typeof setting === 'number' ? (_address: string, hop: number) => hop < setting : setting;
