import type { FastifyReply } from 'fastify';
import type { RateLimiter } from '../auth/rate-limiter.ts';
import type { Databases } from '../database/database.ts';
import { toNetwork } from '../network/client-network.ts';
import { ApiError } from '../shared/errors.ts';
import type { OAuthDependencies } from './dependencies.ts';

/** Links for choosing a password that one network can request. OAU-45. */
export const PASSWORD_RESET_LIMIT = { requests: 20, seconds: 3600 };

type OAuthRateLimits = Required<
  Pick<OAuthDependencies, 'limitAddress' | 'limitClient' | 'limitPageRequest' | 'limitPasswordReset'>
>;

/**
 * Creates the rate limits of the OAuth endpoints: token requests per address and per client by the `token` limiter, page
 * requests per address by the `api` limiter, which also counts other requests without a token. LIM-3.
 */
export function createOAuthRateLimits(
  databases: Databases,
  { api, token, passwordReset }: Record<'api' | 'token' | 'passwordReset', RateLimiter>,
): OAuthRateLimits {
  const takeOfAddress = createAddressLimit(databases);
  return {
    limitAddress: (request, reply) => takeOfAddress(token, `address:${toNetwork(request.ip)}`, reply),
    limitClient: async (database, clientId, reply) => token.take(database, `client:${clientId}`, reply),
    limitPasswordReset: (request) => takeOfAddress(passwordReset, `address:${toNetwork(request.ip)}`, null),
    limitPageRequest: (request) => takeOfAddress(api, toNetwork(request.ip), null),
  };
}

/** Milliseconds for which `au1` is not used after a failure. A database that hangs takes seconds to fail. */
const RETRY_MS = 10_000;

/**
 * Returns what charges the budget of an address. Addresses belong to no region: their counters are in `au1`, or in `us1` while `au1` is
 * unavailable, so that it delays the clients of `us1` once only.
 */
function createAddressLimit({ au1, us1 }: Databases) {
  /** When `au1` is tried again, in the background; null while it is available. */
  let retryAt: number | null = null;
  return async (limiter: RateLimiter, key: string, reply: FastifyReply | null): Promise<void> => {
    const now = performance.now();
    if (retryAt === null) {
      try {
        return await limiter.take(au1, key, reply);
      } catch (error) {
        if (error instanceof ApiError) throw error;
        retryAt = performance.now() + RETRY_MS;
      }
    } else if (now >= retryAt) {
      retryAt = now + RETRY_MS;
      au1.now().then(
        () => {
          retryAt = null;
        },
        () => undefined,
      );
    }
    await limiter.take(us1, key, reply);
  };
}
