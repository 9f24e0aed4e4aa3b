import type { FastifyReply } from 'fastify';
import type { RateLimiter } from '../auth/rate-limiter.ts';
import type { Databases } from '../database/database.ts';
import { ApiError } from '../shared/errors.ts';
import { networkOf } from '../shared/network.ts';
import type { OAuthDependencies } from './dependencies.ts';

type OAuthLimits = Required<Pick<OAuthDependencies, 'limitAddress' | 'limitClient' | 'limitVisitor'>>;

/**
 * Budgets of the OAuth endpoints: token requests per address and per client, page views per address as for any request
 * without a token. LIM-3.
 */
export function oauthLimits(databases: Databases, api: RateLimiter, token: RateLimiter): OAuthLimits {
  return {
    limitAddress: (request, reply) => takeAnywhere(databases, token, `address:${networkOf(request.ip)}`, reply),
    limitClient: (database, clientId, reply) => token.take(database, `client:${clientId}`, reply),
    limitVisitor: (request, reply) => takeAnywhere(databases, api, networkOf(request.ip), reply),
  };
}

/** An address belongs to no region: its budget is in `au1`, and while that is away in `us1`. */
async function takeAnywhere(
  databases: Databases,
  limits: RateLimiter,
  key: string,
  reply: FastifyReply,
): Promise<void> {
  try {
    await limits.take(databases.au1, key, reply);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    await limits.take(databases.us1, key, reply);
  }
}
