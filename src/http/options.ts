import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type FastifyServerOptions, LogController } from 'fastify';
import type { Config } from '../config.ts';
import { notFound } from '../shared/errors.ts';
import { sendClientError } from './client-errors.ts';
import { sendError } from './errors.ts';
import { loggerOptions } from './logger-options.ts';

/** 1 MiB; an operation that takes more says so. */
const BODY_LIMIT = 1024 * 1024;

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Fastify's options: logs, request ids, proxy, TLS. */
export function serverOptions(config: Config): FastifyServerOptions {
  const tls = config.tls && { https: { cert: readFileSync(config.tls.cert), key: readFileSync(config.tls.key) } };
  return {
    ...tls,
    bodyLimit: BODY_LIMIT,
    // An identifier that is too long has the wrong shape, which its type says; Node bounds the whole line.
    routerOptions: { maxParamLength: 16_384 },
    // A percent sign that encodes nothing stands for itself, so that such a path meets the checks of any other.
    rewriteUrl: ({ url = '/' }) => (isEncoded(url) ? url : url.replaceAll('%', '%25')),
    clientErrorHandler: sendClientError,
    frameworkErrors: (_error, _request, reply) => {
      sendError(reply, notFound('Route'));
    },
    trustProxy: trustOf(config.trustProxy),
    // 40 MiB over a slow line take minutes. A line that is silent is cut long before.
    requestTimeout: config.requestSeconds * 1000,
    connectionTimeout: 120_000,
    forceCloseConnections: 'idle',
    genReqId: (request) => {
      const sent = request.headers['x-request-id'];
      return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
    },
    // One line per response is written in headers.ts, with what an operator asks for.
    logController: new LogController({ requestIdLogLabel: 'requestId', disableRequestLogging: true }),
    logger: loggerOptions(config),
  };
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

/** Fastify trusts nobody when it is told a number of proxies, so it is told which hops those are. */
const trustOf = (setting: Config['trustProxy']) =>
  typeof setting === 'number' ? (_address: string, hop: number) => hop < setting : setting;
