import { requireAudience } from '../checks/audience.check.ts';
import { requireParameter } from '../checks/parameters.check.ts';
import { requireClientScopes } from '../checks/scope.check.ts';
import { issueAccessToken } from '../tokens/token-response.ts';
import type { GrantHandler } from './grant.ts';

/** Issues an access token for the client itself, without a refresh token. RFC 6749 section 4.4, OAU-10, OAU-11. */
export const grantClientCredentials: GrantHandler = async ({ parameters, client }, { accessTokens, baseUrl }) => {
  requireAudience(requireParameter(parameters, 'audience'), baseUrl);
  const scopes = requireClientScopes(requireParameter(parameters, 'scope'), client);
  const claims = { sub: client.id, client_id: client.id, scope: scopes.join(' ') };
  return issueAccessToken(accessTokens, client.database.region, claims);
};
