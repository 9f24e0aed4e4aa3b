import { toAuditOrigin } from '../audit-origin.ts';
import { authenticateClient } from '../authenticate-client.ts';
import { requireConfidentialClient } from '../checks/client-authentication.check.ts';
import { requireAllowedGrant, requireSupportedGrant } from '../checks/grant.check.ts';
import { requireParameter } from '../checks/parameters.check.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { grantHandlers } from '../grants/index.ts';
import type { EndpointHandler } from './endpoint.ts';

/**
 * Creates the handler of `POST /oauth/token`. RFC 6749 section 3.2. Validates the parameters first, then the client, the
 * grant, and last the parameters of the grant.
 */
export const createTokenEndpoint =
  (dependencies: OAuthDependencies): EndpointHandler =>
  async (parameters, request, reply) => {
    const grantType = requireParameter(parameters, 'grant_type');
    const { client, credentials, chargeClient } = await authenticateClient(dependencies, parameters, request, reply);

    const grant = requireSupportedGrant(grantType);
    if (grant === 'client_credentials') requireConfidentialClient(client, credentials);
    requireAllowedGrant(client, grant);
    return grantHandlers[grant](
      { parameters, credentials, client, chargeClient, origin: toAuditOrigin(request) },
      dependencies,
    );
  };
