import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type FastifyServerOptions, LogController } from 'fastify';
import type { Config } from '../config.ts';
import { notFound } from '../errors.ts';
import { sendError } from './errors.ts';

/** 1 MiB; an operation that takes more says so. */
const BODY_LIMIT = 1024 * 1024;

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Fastify's options: JSON logs without secrets, request ids, proxy, TLS. */
export function serverOptions(config: Config): FastifyServerOptions {
  const tls = config.tls && { https: { cert: readFileSync(config.tls.cert), key: readFileSync(config.tls.key) } };
  return {
    ...tls,
    bodyLimit: BODY_LIMIT,
    // An identifier that is too long has the wrong shape, which its type says; Node bounds the whole line.
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (_error, _request, reply) => {
      sendError(reply, notFound('Route'));
    },
    trustProxy: config.trustProxy as boolean,
    // As long as an upload URL lives: 40 MiB over a slow line take minutes. A line that is silent is cut long before.
    requestTimeout: 900_000,
    connectionTimeout: 120_000,
    forceCloseConnections: 'idle',
    genReqId: (request) => {
      const sent = request.headers['x-request-id'];
      return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
    },
    // One line per response is written in headers.ts, with what an operator asks for.
    logController: new LogController({ requestIdLogLabel: 'requestId', disableRequestLogging: true }),
    logger: {
      level: config.logLevel,
      serializers: { err: errorForLog },
    },
  };
}

/** Stack and code of an error; a database error's detail and parameters hold other people's data and stay out. */
function errorForLog(error: Error & { code?: string }) {
  return { type: error.name, code: error.code, message: error.message, stack: error.stack ?? '' };
}
