import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { type ConcurrencyLimits, installLimits } from './concurrency-limits.ts';
import { HttpError } from './http-error.ts';

/**
 * Creates the Fastify application of a comparison service: headers, error handler, limits and health check. The response headers and
 * errors equal those of the measured service. CORS is omitted because no workload uses it.
 */
export function createService(limits: ConcurrencyLimits): FastifyInstance {
  const app = Fastify({
    logger: { level: process.env.LOG_LEVEL ?? 'info' },
    genReqId: (request) => (request.headers['x-request-id'] as string | undefined) ?? randomUUID(),
  });
  installLimits(app, limits);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({
      'X-Request-Id': request.id,
      'X-Service-Api-Version': 'v1',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Permissions-Policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
      Vary: 'Origin',
    });
    done();
  });
  app.setErrorHandler(
    (error: Error & { validation?: { instancePath: string; message?: string }[] }, request, reply) => {
      if (error instanceof HttpError) return reply.code(error.status).headers(error.headers).send(error.body);
      if (error.validation) {
        const errors = error.validation.map(({ instancePath, message }) => {
          return { fieldName: instancePath.slice(1).replaceAll('/', '.') || 'body', message: message ?? 'is invalid' };
        });
        return reply.code(400).send({ errors });
      }
      request.log.error(error);
      return reply.code(500).send({ code: 'INTERNAL', message: 'Something went wrong on our side.' });
    },
  );
  app.get('/health/live', async () => ({ status: 'ok' }));
  return app;
}

/** Listens on `PORT`, and closes the application on SIGTERM. */
export async function listen(app: FastifyInstance): Promise<void> {
  process.on('SIGTERM', () => void app.close().then(() => process.exit()));
  await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
}
