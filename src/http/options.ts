import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type FastifyServerOptions, LogController } from 'fastify';
import type { Config } from '../config.ts';
import { notFound } from '../shared/errors.ts';
import { sendClientError } from './client-errors.ts';
import { sendError } from './errors.ts';
import { loggerOptions } from './logger-options.ts';

/** Default limit; operations may declare a larger one. LIM-10. */
export const BODY_LIMIT = 1024 * 1024;

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Returns Fastify's options: limits, request ids, proxy, TLS and logging. */
export function serverOptions(config: Config): FastifyServerOptions {
  const tls = config.tls && { https: { cert: readFileSync(config.tls.cert), key: readFileSync(config.tls.key) } };
  return {
    ...tls,
    bodyLimit: BODY_LIMIT,
    // The types of identifiers reject long ones; Node limits the request line.
    routerOptions: { maxParamLength: 16_384 },
    // Escapes invalid percent signs, so that such a path is checked like any other.
    rewriteUrl: ({ url = '/' }) => (isEncoded(url) ? url : url.replaceAll('%', '%25')),
    clientErrorHandler: sendClientError,
    frameworkErrors: (_error, _request, reply) => {
      sendError(reply, notFound('Route'));
    },
    trustProxy: toTrustProxy(config.trustProxy),
    // An upload of 40 MiB over a slow connection takes minutes. Connections without traffic are closed earlier.
    requestTimeout: config.requestSeconds * 1000,
    connectionTimeout: 120_000,
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

function isEncoded(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(url.split('?', 1)[0]!);
    return true;
  } catch {
    return false;
  }
}

/** Returns Fastify's `trustProxy`: a function for a number of proxies, because Fastify trusts no hop for a number. */
const toTrustProxy = (setting: Config['trustProxy']) =>
  typeof setting === 'number' ? (_address: string, hop: number) => hop < setting : setting;
