import { requireAllowedGrant } from './checks/allowed-grant.ts';
import { authenticateClient } from './checks/client-authentication.ts';
import { requireConfidentialClient } from './checks/confidential-client.ts';
import { requireCredentials } from './checks/credentials.ts';
import { requireKnownGrant } from './checks/grant-type.ts';
import { requireRegions } from './checks/region.ts';
import { requireParameter } from './checks/required-parameter.ts';
import type { EndpointHandler } from './endpoint.ts';
import { unsupportedGrantType } from './errors.ts';
import { grants } from './grants/index.ts';
import type { OAuthParts } from './parts.ts';

/**
 * `POST /oauth/token`. RFC 6749 section 3.2. In order: the shape of the request, the client, the grant, and what the grant
 * itself asks for.
 */
export const tokenEndpoint =
  (parts: OAuthParts): EndpointHandler =>
  async (parameters, request, reply) => {
    const regions = requireRegions(request.headers);
    const grantType = requireParameter(parameters, 'grant_type');
    const credentials = requireCredentials(parameters, request.headers.authorization);

    const databases = regions.map((region) => parts.databases[region]);
    const client = await authenticateClient(databases, credentials);
    await parts.limitClient?.(client.database, client.id, reply);

    const grant = requireKnownGrant(grantType);
    if (grant === 'client_credentials') requireConfidentialClient(client, credentials);
    requireAllowedGrant(client, grant);
    const issue = grants[grant];
    if (!issue) throw unsupportedGrantType(`The grant ${grant} is not served yet.`);
    return issue({ parameters, credentials, client }, parts);
  };
