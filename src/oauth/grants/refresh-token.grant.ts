import { requireClientScopes, requireConnectionScopes, requireConsentedScopes } from '../checks/scope.check.ts';
import { expiredOrRevokedGrant, invalidGrant } from '../errors.ts';
import { requireParameter } from '../parameters.ts';
import { findRefreshToken, rotateRefreshToken } from '../tokens/refresh-tokens.ts';
import { requireTokenOwner, revokeTokenFamily } from '../tokens/token-families.ts';
import { issueUserTokens, requireActiveMembership, requireAllowedScopes } from '../tokens/user-tokens.ts';
import type { GrantHandler } from './grant.ts';

/**
 * Reuse of a rotated token within this time is attributed to a lost response or a second tab and only rejected. Later reuse
 * indicates theft and revokes the token family. OAU-33.
 */
const REUSE_GRACE_MS = 60_000;

/**
 * Exchanges a refresh token for an access token and a new refresh token that replaces it. RFC 6749 section 6, OAU-32.
 */
export const exchangeRefreshToken: GrantHandler = async (
  { parameters, client, chargeClient, origin },
  dependencies,
) => {
  const sentToken = requireParameter(parameters, 'refresh_token');
  const scope = parameters.get('scope');
  const requested = scope === undefined ? null : requireClientScopes(scope, client);
  const { database } = client;
  const now = dependencies.clock.now();

  const token = requireTokenOwner(await findRefreshToken(database, sentToken), client);
  if (token.rotationAge !== null && token.rotationAge > REUSE_GRACE_MS) {
    await revokeTokenFamily(dependencies, database, token, { reason: 'a replaced refresh token was used', origin });
    throw invalidGrant('The refresh token was replaced before; all tokens that descend from it are revoked.');
  }
  if (token.rotationAge !== null) throw invalidGrant('The refresh token was replaced a moment ago.');
  if (token.revoked || now >= token.tokenExpiresAt) throw expiredOrRevokedGrant();
  if (requested) requireConsentedScopes(requested, token.scopes);
  const membership = await requireActiveMembership(client, token);
  if (requested) requireConnectionScopes(requested, membership);
  const scopes = requested ?? requireAllowedScopes(client, token, membership);
  // Charged before the token is rotated, so that the client can send it again after a 429.
  await chargeClient();

  const response = await database.transaction(async (em) =>
    (await rotateRefreshToken(em, token)) ? issueUserTokens(em, dependencies, client, token, scopes) : null,
  );
  if (!response) throw invalidGrant('The refresh token was replaced a moment ago.');
  return response;
};
