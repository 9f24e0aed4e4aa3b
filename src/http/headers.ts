import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { API_VERSION } from '../../schema/rest.ts';
import type { Config } from '../config.ts';
import { type ApiError, invalidField } from '../shared/errors.ts';
import { headersTooLarge } from './client-errors.ts';
import { MAX_HEADERS, MAX_RAW_HEADERS } from './limits/parsing-limits.ts';
import { toLoggedPath } from './metrics/logged-path.ts';

/** Policy of data, which browsers must not execute. Pages of this service set their own. */
const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Returns the error of a request with too many headers, or without `Host`. */
function findHeaderError(raw: IncomingMessage): ApiError | undefined {
  if (raw.rawHeaders.length > MAX_RAW_HEADERS)
    return headersTooLarge(`A request may have at most ${MAX_HEADERS} headers.`);
  const hasHost = raw.headers.host !== undefined || raw.httpVersion === '1.0';
  return hasHost ? undefined : invalidField('Host', 'is required');
}

/** Adds hooks that set the headers of every response and log one line for each. */
export function installHeaders(app: FastifyInstance, config: Config): void {
  // In lower case, as they are sent: Fastify would convert the names in every response.
  const headers = {
    'x-service-api-version': API_VERSION,
    'x-content-type-options': 'nosniff',
    'content-security-policy': NO_CONTENT_POLICY,
    'referrer-policy': 'no-referrer',
    // A page of another site that opens one of ours in a window gets no reference to it.
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
    'cache-control': 'no-store',
    ...(config.production && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  };
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(headers);
    done(findHeaderError(request.raw));
  });
  if (!['trace', 'debug', 'info'].includes(config.logLevel)) return;
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      {
        method: request.method,
        path: toLoggedPath(request.url),
        route: request.routeOptions.url,
        status: reply.statusCode,
        operation: request.context?.operation.name ?? undefined,
        milliseconds: Math.round(reply.elapsedTime),
        // Records times selected fields.
        cost: request.context?.meter.fields,
        integratorId: request.context?.caller.integratorId ?? undefined,
        clientId: request.context?.caller.clientId,
        builderId: request.context?.builderHeader ?? undefined,
        address: request.ip,
      },
      'request',
    );
    done();
  });
}
