import type { FastifyReply } from 'fastify';
import type { RateLimiter } from '../auth/rate-limiter.ts';
import type { Databases } from '../database/database.ts';
import { ApiError } from '../shared/errors.ts';
import { toNetwork } from '../shared/network.ts';
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
  return {
    limitAddress: (request, reply) =>
      takeFromAvailableRegion(databases, token, `address:${toNetwork(request.ip)}`, reply),
    limitClient: (database, clientId, reply) => token.take(database, `client:${clientId}`, reply),
    limitPasswordReset: (request, reply) =>
      takeFromAvailableRegion(databases, passwordReset, `address:${toNetwork(request.ip)}`, reply),
    limitPageRequest: (request, reply) => takeFromAvailableRegion(databases, api, toNetwork(request.ip), reply),
  };
}

/** Addresses belong to no region: their counters are in `au1`, or in `us1` while `au1` is unavailable. */
async function takeFromAvailableRegion(
  databases: Databases,
  limiter: RateLimiter,
  key: string,
  reply: FastifyReply,
): Promise<void> {
  try {
    await limiter.take(databases.au1, key, reply);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    await limiter.take(databases.us1, key, reply);
  }
}
