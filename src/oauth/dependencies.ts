import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccessTokenVerifier } from '../auth/access-token-verifier.ts';
import type { AccessTokens } from '../auth/access-tokens.ts';
import type { Database } from '../database/database.ts';
import type { RegionId } from '../shared/regions.ts';
import type { PasswordResets } from './account/password-resets.ts';
import type { PageDependencies } from './interaction/page-request.ts';

/** Dependencies of the OAuth endpoints and pages. */
export interface OAuthDependencies extends PageDependencies {
  accessTokens: AccessTokens;
  tokenVerifier: Pick<AccessTokenVerifier, 'isLive' | 'evict'>;
  /** Returns the signed URL of a builder's logo. */
  createLogoUrl: (region: RegionId, key: string) => string;
  /**
   * Charges one request to a client's rate limit; throws 429. Called only after the secret of a confidential client, or a
   * code or token of a public one, was verified, so that the public id alone cannot be used to exhaust a client's limit.
   * LIM-4.
   */
  limitClient?: (database: Database, clientId: string, reply: FastifyReply) => Promise<void>;
  /** Charges one request to the token, revocation or introspection endpoint to its address's rate limit; throws 429. */
  limitAddress?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Sends links for choosing a password; absent without a mail server. */
  passwordResets?: Pick<PasswordResets, 'add' | 'notify'>;
  /** Charges a request for such a link to its address's rate limit; throws 429. OAU-45. */
  limitPasswordReset?: (request: FastifyRequest) => Promise<void>;
  /** Charges one page request, which carries no token, to its address's rate limit; throws 429. */
  limitPageRequest?: (request: FastifyRequest) => Promise<void>;
}
