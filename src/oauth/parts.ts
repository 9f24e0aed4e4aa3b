import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { RegionId } from '../context.ts';
import type { Database, Databases } from '../database/database.ts';
import type { AccessClaims, AccessTokens } from '../tokens.ts';

/** What the OAuth endpoints work with. */
export interface OAuthParts {
  databases: Databases;
  tokens: AccessTokens;
  /** Whether access tokens still hold. */
  access: LiveTokens;
  clock: Clock;
  /** Signed URL of a company logo. */
  logoUrl: (region: RegionId, key: string) => string;
  /** Issuer and audience of the tokens. */
  baseUrl: string;
  /**
   * Takes one request from a client's budget; throws 429. Only once a secret of a confidential client, or a code or token of a
   * public one, has been verified, so that nobody can spend the budget of a client whose id they know. Part 12 of the decisions.
   */
  limitClient?: (database: Database, clientId: string, reply: FastifyReply) => Promise<void>;
  /** Takes one request to the token, revocation or introspection endpoint from its address's budget; throws 429. */
  limitAddress?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** The same for a request to a page, which a browser makes without a token. */
  limitVisitor?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

/** What is known of access tokens beside their signature. */
export interface LiveTokens {
  /** Whether the token's client, user, builder and family still stand, and it was not revoked. Asks the database. */
  isLive(claims: AccessClaims, region: RegionId): Promise<boolean>;
  /** Drops what this instance remembers of a token, by its `jti`, or of all tokens of a family, by its id. */
  forget(id: string): void;
}
