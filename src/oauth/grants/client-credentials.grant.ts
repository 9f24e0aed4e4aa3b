import { requireClientScopes } from '../checks/scope.check.ts';
import type { EndpointHandler } from '../endpoints/endpoint.ts';
import { parseResource, requireParameter } from '../parameters.ts';
import { issueAccessToken } from '../tokens/user-tokens.ts';

/** Issues an access token for the client itself, without a refresh token. RFC 6749 section 4.4, OAU-10, OAU-11. */
export const grantClientCredentials: EndpointHandler = async ({ parameters, client }, dependencies) => {
  const resource = parseResource(parameters, dependencies.baseUrl);
  if (resource === null) requireParameter(parameters, 'audience');
  const scope =
    parameters.get('scope') ?? (resource && client.scopes.join(' ')) ?? requireParameter(parameters, 'scope');
  const scopes = requireClientScopes(scope, client);
  const claims = { sub: client.id, client_id: client.id, scope: scopes.join(' ') };
  return issueAccessToken(dependencies, client, { ...claims, aud: resource ?? undefined });
};
