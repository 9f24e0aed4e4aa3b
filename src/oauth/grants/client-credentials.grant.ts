import { requireClientScopes } from '../checks/scope.check.ts';
import { requireParameter } from '../parameters.ts';
import { issueAccessToken } from '../tokens/user-tokens.ts';
import type { GrantHandler } from './grant.ts';

/** Issues an access token for the client itself, without a refresh token. RFC 6749 section 4.4, OAU-10, OAU-11. */
export const grantClientCredentials: GrantHandler = async ({ parameters, client }, dependencies) => {
  requireParameter(parameters, 'audience');
  const scopes = requireClientScopes(requireParameter(parameters, 'scope'), client);
  return issueAccessToken(dependencies, client, { sub: client.id, client_id: client.id, scope: scopes.join(' ') });
};
