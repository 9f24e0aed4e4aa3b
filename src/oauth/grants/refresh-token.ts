import { requireAudience } from '../checks/audience.ts';
import { requireConnectionScopes } from '../checks/connection-scope.ts';
import { requireNarrowerScopes } from '../checks/narrower-scope.ts';
import { requireParameter } from '../checks/required-parameter.ts';
import { requireScopes } from '../checks/scope.ts';
import { requireOwner } from '../checks/token-owner.ts';
import { invalidGrant, staleGrant } from '../errors.ts';
import { findRefreshToken, rotateRefreshToken } from '../tokens/refresh-tokens.ts';
import { revokeFamily } from '../tokens/token-families.ts';
import { issuePersonTokens, requireStanding, scopesLeft } from '../tokens/user-tokens.ts';
import type { GrantHandler } from './grant.ts';

/**
 * A rotated token that comes again within this time is a lost answer or a second tab, and harms nothing; later it was
 * stolen. OAU-33.
 */
const GRACE_MS = 60_000;

/** New tokens in exchange for a refresh token, which they replace. RFC 6749 section 6, OAU-32. */
export const refreshToken: GrantHandler = async ({ parameters, client, chargeClient }, parts) => {
  requireAudience(parameters.get('audience'), parts.baseUrl);
  const presented = requireParameter(parameters, 'refresh_token');
  const scope = parameters.get('scope');
  const asked = scope === undefined ? null : requireScopes(scope, client);
  const { database } = client;
  const now = parts.clock.now();

  const token = requireOwner(await findRefreshToken(database, presented), client);
  if (token.rotatedAt !== null && now - token.rotatedAt > GRACE_MS) {
    await revokeFamily(parts, database, token.familyId);
    throw invalidGrant('The refresh token was replaced before; all tokens that descend from it are revoked.');
  }
  if (token.rotatedAt !== null) throw invalidGrant('The refresh token was replaced a moment ago.');
  if (token.revoked || now >= token.tokenExpiresAt) throw staleGrant();
  if (asked) requireNarrowerScopes(asked, token.scopes);
  const choice = await requireStanding(client, token);
  if (asked) requireConnectionScopes(asked, choice);
  const scopes = asked ?? scopesLeft(client, token, choice);
  // Before the token is rotated: an answer of 429 leaves it as it is.
  await chargeClient();

  const response = await database.transaction(async (em) =>
    (await rotateRefreshToken(em, token, now)) ? issuePersonTokens(em, parts, client, token, scopes) : null,
  );
  if (!response) throw invalidGrant('The refresh token was replaced a moment ago.');
  return response;
};
