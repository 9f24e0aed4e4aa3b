import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccessTokenVerifier } from '../auth/access-token-verifier.ts';
import type { AccessTokens } from '../auth/access-tokens.ts';
import type { Database, Databases } from '../database/database.ts';
import type { Clock } from '../shared/clock.ts';
import type { RegionId } from '../shared/regions.ts';

/** What the OAuth endpoints work with. */
export interface OAuthDependencies {
  databases: Databases;
  accessTokens: AccessTokens;
  tokenVerifier: Pick<AccessTokenVerifier, 'isLive' | 'evict'>;
  clock: Clock;
  /** Signed URL of a company logo. */
  logoUrl: (region: RegionId, key: string) => string;
  /** Issuer and audience of the tokens. */
  baseUrl: string;
  /**
   * Takes one request from a client's budget; throws 429. Only once a secret of a confidential client, or a code or token of a
   * public one, has been verified, so that nobody can spend the budget of a client whose id they know. LIM-4.
   */
  limitClient?: (database: Database, clientId: string, reply: FastifyReply) => Promise<void>;
  /** Takes one request to the token, revocation or introspection endpoint from its address's budget; throws 429. */
  limitAddress?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** The same for a request to a page, which a browser makes without a token. */
  limitVisitor?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}
