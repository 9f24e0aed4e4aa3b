import { requireAudience } from '../checks/audience.ts';
import { requireParameter } from '../checks/required-parameter.ts';
import { requireScopes } from '../checks/scope.ts';
import { issueToken } from '../tokens/token-response.ts';
import type { GrantHandler } from './grant.ts';

/** A token for the client itself. RFC 6749 section 4.4: no refresh token. OAU-10, OAU-11. */
export const clientCredentials: GrantHandler = async ({ parameters, client }, { accessTokens, baseUrl }) => {
  requireAudience(requireParameter(parameters, 'audience'), baseUrl);
  const scopes = requireScopes(requireParameter(parameters, 'scope'), client);
  return issueToken(accessTokens, { sub: client.id, client_id: client.id, scope: scopes.join(' ') });
};
