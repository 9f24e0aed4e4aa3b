import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { methodNotAllowed } from '../shared/errors.ts';

/**
 * Adds routes that respond 405 to the methods that a path does not have, before the body is received, and 204 to OPTIONS. Call it after the
 * routes of the path are registered: `Allow` names their methods. ERR-14.
 *
 * @param urls paths as their routes have them
 * @param check runs before the response and may throw another error, such as 401 or 429
 */
export function rejectOtherMethods(
  app: FastifyInstance,
  urls: Iterable<string>,
  check?: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  for (const url of urls) {
    const allowed = app.supportedMethods.filter((method) => app.hasRoute({ method, url }));
    const reject = async (request: FastifyRequest, reply: FastifyReply) => {
      await check?.(request, reply);
      throw methodNotAllowed(allowed);
    };
    if (!allowed.includes('OPTIONS')) {
      app.options(url, async (_request, reply) => reply.code(204).header('Allow', allowed.join(', ')).send());
    }
    const others = app.supportedMethods.filter((method) => method !== 'OPTIONS' && !allowed.includes(method));
    app.route({ method: others, url, exposeHeadRoute: false, onRequest: reject, handler: reject });
  }
}
