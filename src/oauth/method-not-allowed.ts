import type { FastifyInstance } from 'fastify';
import { methodNotAllowed } from '../shared/errors.ts';

/**
 * Adds routes that answer 405 to the methods that the path does not allow, before the body is read.
 *
 * @param methods the methods to consider; by default all that Fastify supports
 */
export function rejectOtherMethods(
  app: FastifyInstance,
  url: string,
  allowed: string[],
  methods: string[] = app.supportedMethods,
): void {
  const reject = async () => {
    throw methodNotAllowed(allowed);
  };
  const method = methods.filter((name) => !allowed.includes(name));
  app.route({ method, url, exposeHeadRoute: false, onRequest: reject, handler: reject });
}
