import { authenticate } from '../authenticate-client.ts';
import { requireAllowedGrant } from '../checks/allowed-grant.ts';
import { requireConfidentialClient } from '../checks/confidential-client.ts';
import { requireKnownGrant } from '../checks/grant-type.ts';
import { requireParameter } from '../checks/required-parameter.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { grants } from '../grants/index.ts';
import type { EndpointHandler } from './endpoint.ts';

/**
 * `POST /oauth/token`. RFC 6749 section 3.2. In order: the shape of the request, the client, the grant, and what the grant
 * itself asks for.
 */
export const tokenEndpoint =
  (parts: OAuthDependencies): EndpointHandler =>
  async (parameters, request, reply) => {
    const grantType = requireParameter(parameters, 'grant_type');
    const { client, credentials, chargeClient } = await authenticate(parts, parameters, request, reply);

    const grant = requireKnownGrant(grantType);
    if (grant === 'client_credentials') requireConfidentialClient(client, credentials);
    requireAllowedGrant(client, grant);
    return grants[grant]({ parameters, credentials, client, chargeClient }, parts);
  };
