import type { FastifyReply } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Database, Databases } from '../database/database.ts';
import type { AccessTokens } from '../tokens.ts';

/** What the OAuth endpoints work with. */
export interface OAuthParts {
  databases: Databases;
  tokens: AccessTokens;
  clock: Clock;
  /** Issuer and audience of the tokens. */
  baseUrl: string;
  /**
   * Takes one request from an authenticated client's budget; throws 429. After authentication, so that nobody can spend
   * the budget of a client whose id they know. Part 12 of the decisions.
   */
  limitClient?: (database: Database, clientId: string, reply: FastifyReply) => Promise<void>;
}
