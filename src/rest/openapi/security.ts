import type { SCOPES, Scope } from '../../../schema/scopes.ts';

/** Descriptions of the scopes, in the order of the document. */
const SCOPE_DESCRIPTIONS: Record<(typeof SCOPES)[number], string> = {
  'read:builders': 'Read builders.',
  'read:subcontractors': 'Read subcontractors.',
  'read:projects': 'Read projects.',
  'read:prequalifications': 'Read prequalifications of subcontractors.',
  'read:insurances': 'Read insurances of subcontractors.',
  'read:contacts': 'Read contacts of subcontractors.',
  'read:swms': 'Read SWMS (safe work method statement) documents.',
  'read:timesheets': 'Read timesheets, cost codes and time types.',
  'read:inductions': 'Read inductions of workers.',
  'read:meetings': 'Read meetings and their notes.',
  'write:meetings': 'Create, change, start and end meetings; sync their notes.',
  'read:defects': 'Read defects.',
  'read:photos': 'Read photos, photo folders and photo reports.',
  'write:photos': 'Create, change and delete photos and photo folders; sync photo galleries and photo reports.',
  'write:sign_on_events': 'Post gate attendance. Granted only by agreement during a limited pilot.',
};

/** Returns the security requirement of an operation; without a scope, any valid token suffices. */
export const securityOf = (scope: Scope | null) => [{ oauth2: scope === null ? [] : [scope] }];

/** Returns the schemes for obtaining an access token and for authenticating a client at the token endpoint. OAU-1. */
export function securitySchemes(baseUrl: string): object {
  const scopes = SCOPE_DESCRIPTIONS;
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
    clientCredentials: {
      type: 'http',
      scheme: 'basic',
      description: '`client_id` and `client_secret` of the client, where they are not in the body.',
    },
  };
}
