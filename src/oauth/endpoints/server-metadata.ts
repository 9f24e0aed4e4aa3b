import { ChallengeMethod } from '../../../entities/authorization-code.entity.ts';
import { GRANTS } from '../../../entities/oauth-client.entity.ts';
import { SCOPES } from '../../../schema/scopes.ts';
import { MCP_PATH } from '../../auth/access-tokens.ts';

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

/** Path of the metadata of the tools for agents. RFC 9728 section 3.1. */
export const RESOURCE_PATH = `/.well-known/oauth-protected-resource${MCP_PATH}`;

/** Creates the metadata document of the tools for agents. RFC 9728 section 2, OAU-49. */
export const createResourceMetadata = (baseUrl: string) => ({
  resource: `${baseUrl}${MCP_PATH}`,
  authorization_servers: [baseUrl],
  scopes_supported: SCOPES,
  bearer_methods_supported: ['header'],
  resource_name: 'Builder Integration API',
  resource_documentation: `${baseUrl}/docs/guides/agents`,
});
