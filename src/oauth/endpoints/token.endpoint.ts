import type { Grant } from '../../../entities/oauth-client.entity.ts';
import { requireAllowedGrant, requireConfidentialClient, requireSupportedGrant } from '../checks/client.check.ts';
import { exchangeAuthorizationCode } from '../grants/authorization-code.grant.ts';
import { grantClientCredentials } from '../grants/client-credentials.grant.ts';
import { exchangeRefreshToken } from '../grants/refresh-token.grant.ts';
import { requireAudience, requireParameter } from '../parameters.ts';
import type { EndpointHandler } from './endpoint.ts';

const GRANT_HANDLERS: Record<Grant, EndpointHandler> = {
  client_credentials: grantClientCredentials,
  authorization_code: exchangeAuthorizationCode,
  refresh_token: exchangeRefreshToken,
};

/**
 * Handles `POST /oauth/token`. RFC 6749 section 3.2. The client was authenticated before; then the grant is validated, and last the
 * parameters of the grant.
 */
export const issueToken: EndpointHandler = async (request, dependencies) => {
  const { parameters, client, credentials } = request;
  const grant = requireSupportedGrant(requireParameter(parameters, 'grant_type'));
  if (grant === 'client_credentials') requireConfidentialClient(client, credentials);
  requireAllowedGrant(client, grant);
  requireAudience(parameters, dependencies.baseUrl);
  return GRANT_HANDLERS[grant](request, dependencies);
};
