import { SCOPE_DECLARATIONS, type Scope } from '../../../schema/scopes.ts';

/** Returns the security requirement of an operation; without a scope, any valid token suffices, or any of client credentials. */
export const describeSecurity = (scope: Scope | null, clientCredentials = false) => [
  { [clientCredentials ? 'oauth2ClientCredentials' : 'oauth2']: scope === null ? [] : [scope] },
];

/** Returns the schemes for obtaining an access token and for authenticating a client at the token endpoint. OAU-1. */
export function createSecuritySchemes(baseUrl: string): object {
  const scopes = Object.fromEntries(
    Object.entries(SCOPE_DECLARATIONS).map(([scope, { description }]) => [scope, description]),
  );
  const tokenUrl = `${baseUrl}/oauth/token`;
  // Scalar's reference page sends these with its token request; other tools ignore `x-` fields.
  const scalar = { 'x-scalar-security-body': { audience: baseUrl } };
  return {
    oauth2: {
      type: 'oauth2',
      description:
        'A bearer token in the `Authorization` header. Server-to-server clients use the client-credentials flow, applications with users the authorization-code flow with PKCE.',
      flows: {
        clientCredentials: { tokenUrl, scopes, ...scalar },
        authorizationCode: {
          authorizationUrl: `${baseUrl}/oauth/authorize`,
          tokenUrl,
          refreshUrl: tokenUrl,
          scopes,
        },
      },
    },
    oauth2ClientCredentials: {
      type: 'oauth2',
      description: 'A bearer token of the client-credentials flow; tokens of users are rejected with 403.',
      flows: { clientCredentials: { tokenUrl, scopes, ...scalar } },
    },
    clientCredentials: {
      type: 'http',
      scheme: 'basic',
      description: '`client_id` and `client_secret` of the client, where they are not in the body.',
    },
  };
}
