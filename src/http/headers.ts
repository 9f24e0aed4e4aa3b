import type { FastifyInstance } from 'fastify';
import { API_VERSION } from '../../schema/rest.ts';
import type { Config } from '../config.ts';

/** Policy of data, which browsers must not execute. Pages of this service set their own. */
const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Adds hooks that set the headers of every response and log one line for each. */
export function installHeaders(app: FastifyInstance, config: Config): void {
  const transport = config.production ? { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } : {};
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({
      'X-Request-Id': request.id,
      'X-Service-Api-Version': API_VERSION,
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': NO_CONTENT_POLICY,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      ...transport,
    });
    done();
  });
  if (!['trace', 'debug', 'info'].includes(config.logLevel)) return;
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      {
        method: request.method,
        // Without the query, which may contain codes and signatures.
        path: request.url.split('?', 1)[0],
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
