import type { FastifyInstance } from 'fastify';
import { API_VERSION } from '../../schema/rest.ts';
import type { Config } from '../config.ts';

/** A page that our own origin serves sets its own policy; everything else is data that no browser should run. */
const NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'";

/** Headers of every response, and one log line for each. */
export function installHeaders(app: FastifyInstance, config: Config): void {
  const transport = config.production ? { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } : {};
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({
      'X-Request-Id': request.id,
      'X-Service-Api-Version': API_VERSION,
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': NOTHING_RUNS,
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
        // The path alone: queries may hold codes and signatures.
        path: request.url.split('?', 1)[0],
        route: request.routeOptions.url,
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime),
        clientId: request.context?.caller.clientId,
        builderId: request.context?.builderHeader ?? undefined,
        address: request.ip,
      },
      'request',
    );
    done();
  });
}
