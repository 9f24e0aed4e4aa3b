import type { Grant } from '../../../entities/oauth-client.entity.ts';
import { toAuditOrigin } from '../audit-origin.ts';
import { authenticateClient } from '../authenticate-client.ts';
import { requireAllowedGrant, requireConfidentialClient, requireSupportedGrant } from '../checks/client.check.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { exchangeAuthorizationCode } from '../grants/authorization-code.grant.ts';
import { grantClientCredentials } from '../grants/client-credentials.grant.ts';
import type { GrantHandler } from '../grants/grant.ts';
import { exchangeRefreshToken } from '../grants/refresh-token.grant.ts';
import { requireAudience, requireParameter } from '../parameters.ts';
import type { EndpointHandler } from './endpoint.ts';

const GRANT_HANDLERS: Record<Grant, GrantHandler> = {
  client_credentials: grantClientCredentials,
  authorization_code: exchangeAuthorizationCode,
  refresh_token: exchangeRefreshToken,
};

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
    requireAudience(parameters, dependencies.baseUrl);
    return GRANT_HANDLERS[grant]({ parameters, client, chargeClient, origin: toAuditOrigin(request) }, dependencies);
  };
