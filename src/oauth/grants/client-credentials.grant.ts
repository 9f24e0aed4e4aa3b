import { requireClientScopes } from '../checks/scope.check.ts';
import type { EndpointHandler } from '../endpoints/endpoint.ts';
import { requireParameter } from '../parameters.ts';
import { issueAccessToken } from '../tokens/user-tokens.ts';

/** Issues an access token for the client itself, without a refresh token. RFC 6749 section 4.4, OAU-10, OAU-11. */
export const grantClientCredentials: EndpointHandler = async ({ parameters, client }, dependencies) => {
  requireParameter(parameters, 'audience');
  const scopes = requireClientScopes(requireParameter(parameters, 'scope'), client);
  return issueAccessToken(dependencies, client, { sub: client.id, client_id: client.id, scope: scopes.join(' ') });
};
