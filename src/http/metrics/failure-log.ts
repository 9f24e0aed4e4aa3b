import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import { toLoggedPath } from './logged-path.ts';

/** Logs an error line for every response of status 500 and above. Causes are logged separately. */
export function logFailures(app: FastifyInstance, { logLevel }: Config): void {
  if (logLevel === 'fatal' || logLevel === 'silent') return;
  app.addHook('onResponse', (request, reply, done) => {
    if (reply.statusCode >= 500) {
      const { method, context } = request;
      const path = toLoggedPath(request.url);
      const operationName = context?.operation.name ?? undefined;
      request.log.error({ method, path, status: reply.statusCode, operationName }, 'request failed');
    }
    done();
  });
}

/**
 * Logs rejections that nothing waits for, such as those of a list whose execution graphql-js has ended because another item failed. By
 * default Node would exit, and end the requests of all clients.
 */
export function logUnhandledRejections({ log }: FastifyInstance): void {
  process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled rejection'));
}
