import { ChallengeMethod } from '../../../entities/authorization-code.entity.ts';
import { GRANTS } from '../../../entities/oauth-client.entity.ts';
import { SCOPES } from '../../../schema/scopes.ts';

/** Creates the metadata document of `/.well-known/oauth-authorization-server`. RFC 8414 section 2. */
export const createServerMetadata = (baseUrl: string) => ({
  issuer: baseUrl,
  authorization_endpoint: `${baseUrl}/oauth/authorize`,
  token_endpoint: `${baseUrl}/oauth/token`,
  revocation_endpoint: `${baseUrl}/oauth/revoke`,
  introspection_endpoint: `${baseUrl}/oauth/introspect`,
  service_documentation: `${baseUrl}/docs`,
  scopes_supported: SCOPES,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: GRANTS,
  token_endpoint_auth_methods_supported: [...CLIENT_SECRET_METHODS, 'none'],
  revocation_endpoint_auth_methods_supported: [...CLIENT_SECRET_METHODS, 'none'],
  introspection_endpoint_auth_methods_supported: CLIENT_SECRET_METHODS,
  // `plain` is the name in RFC 7636, `PLAIN` the one in this API's contract (OAU-21).
  code_challenge_methods_supported: [...Object.values(ChallengeMethod), 'plain'],
  // RFC 9207 section 3.
  authorization_response_iss_parameter_supported: true,
});

const CLIENT_SECRET_METHODS = ['client_secret_basic', 'client_secret_post'];
