import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { tracing } from '../shared/tracing.ts';
import type { AuthenticatedRequest } from './request-authenticator.ts';
import type { RequestContext } from './request-context.ts';

declare module 'fastify' {
  interface FastifyRequest {
    context: RequestContext | null;
  }
}

/**
 * The steps of a request. Their order is the same for REST, GraphQL and the console, each of which implements them:
 *
 *     receive → authenticate → limit → authorize → parse input → execute → respond
 *
 * The first one that fails determines the response (ERR-23). Fastify receives the request, with the hooks of `src/http`: the headers before
 * the first step, the body after `authorize`.
 */
export interface RequestSteps<Authenticated extends AuthenticatedRequest, Input, Result> {
  /** Name of the operation's span in traces; without one it has none. */
  readonly spanName?: string;
  /** Finds the caller, by its token or session, charges its rate limit and waits for its share; null for a page that needs no caller. */
  authenticate(request: FastifyRequest, reply: FastifyReply): Authenticated | null | Promise<Authenticated | null>;
  /** Checks the scope, where the URL tells the operation, then the headers. GraphQL authorizes and parses its operation within `execute`. */
  createContext(request: FastifyRequest, authenticated: Authenticated): RequestContext;
  /** Checks access to the builder, and charges budgets, as far as the URL and headers tell. Undefined where there is nothing to wait for. */
  authorize(request: FastifyRequest, context: RequestContext): Promise<void> | undefined;
  /** Returns the input of the operation. Throws 400 with everything that is wrong with it. */
  parseInput(request: FastifyRequest, reply: FastifyReply): Input | Promise<Input>;
  execute(input: Input, request: FastifyRequest, reply: FastifyReply): Promise<Result>;
  respond(result: Result, input: Input, request: FastifyRequest, reply: FastifyReply): unknown;
}

/** Returns the hook and the handler of a route that takes these steps. */
export function toRoute<Authenticated extends AuthenticatedRequest, Input, Result>(
  steps: RequestSteps<Authenticated, Input, Result>,
) {
  const authorize = (request: FastifyRequest, authenticated: Authenticated | null) => {
    if (!authenticated) return undefined;
    request.context = steps.createContext(request, authenticated);
    return steps.authorize(request, request.context);
  };
  return {
    /** A promise would delay requests that have nothing to wait for. */
    onRequest(request, reply, done) {
      const authenticated = steps.authenticate(request, reply);
      const pending =
        authenticated instanceof Promise
          ? authenticated.then((one) => authorize(request, one))
          : authorize(request, authenticated);
      if (!pending) done();
      return pending;
    },
    async handler(request: FastifyRequest, reply: FastifyReply) {
      const { context, headers } = request;
      // The body, also an empty one, may have taken minutes, in which access has ended.
      const hasBody = headers['content-length'] ?? headers['transfer-encoding'];
      if (context && hasBody && (await context.renewCaller())) await steps.authorize(request, context);
      const input = await steps.parseInput(request, reply);
      const result = await (tracing && steps.spanName
        ? tracing.run(steps.spanName, {}, () => steps.execute(input, request, reply))
        : steps.execute(input, request, reply));
      if (context?.operation.isReplay) reply.header('idempotency-replayed', 'true');
      return steps.respond(result, input, request, reply);
    },
  } satisfies RouteShorthandOptions & Record<string, unknown>;
}
