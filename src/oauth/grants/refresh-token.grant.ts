import { requireClientScopes } from '../checks/scope.check.ts';
import type { EndpointHandler } from '../endpoints/endpoint.ts';
import { invalidGrant } from '../errors.ts';
import { requireParameter } from '../parameters.ts';
import { findRefreshToken, rotateRefreshToken } from '../tokens/refresh-tokens.ts';
import { requireTokenOwner, revokeTokenFamily } from '../tokens/token-families.ts';
import { exchangeForUserTokens } from '../tokens/user-tokens.ts';

/**
 * Reuse of a rotated token within this time is attributed to a lost response or a second tab and only rejected. Later reuse
 * indicates theft and revokes the token family. OAU-33.
 */
const REUSE_GRACE_MS = 60_000;

/**
 * Exchanges a refresh token for an access token and a new refresh token that replaces it. RFC 6749 section 6, OAU-32.
 */
export const exchangeRefreshToken: EndpointHandler = async (request, dependencies) => {
  const { parameters, client, origin } = request;
  const sentToken = requireParameter(parameters, 'refresh_token');
  const scope = parameters.get('scope');
  const requested = scope === undefined ? null : requireClientScopes(scope, client);

  const token = requireTokenOwner(await findRefreshToken(client.database, sentToken), client);
  if (token.rotationAge !== null && token.rotationAge > REUSE_GRACE_MS) {
    const cause = { reason: 'a replaced refresh token was used', origin };
    await revokeTokenFamily(dependencies, client.database, token, cause);
    throw invalidGrant('The refresh token was replaced before; all tokens that descend from it are revoked.');
  }
  const response =
    token.rotationAge === null &&
    (await exchangeForUserTokens(request, dependencies, token, requested, (em) => rotateRefreshToken(em, token)));
  if (!response) throw invalidGrant('The refresh token was replaced a moment ago.');
  return response;
};
