import { type JsonSchema } from '../../../../schema/scalar.ts';
import { BuilderId } from '../../../../schema/scalars.ts';
import { SCOPES } from '../../../../schema/scopes.ts';
import { ACCESS_TOKEN_SECONDS } from '../../../auth/access-tokens.ts';
import { VERIFIER_SYNTAX } from '../../../oauth/checks/pkce.check.ts';
import { getScalarSchema, referToSchema, toObjectSchema } from '../schemas.ts';

const { pattern } = getScalarSchema(BuilderId);

export const SCOPE_DESCRIPTION = `The requested scopes, separated by spaces: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.`;

/** RFC 8707. */
export const RESOURCE_DESCRIPTION =
  'Address that the tokens are for: the base address, or that of the tools for agents, which ends in `/mcp` (an addition to v1).';

const text = (description: string, keywords: JsonSchema = {}) => ({ type: 'string', description, ...keywords });

const integer = (description: string, keywords: JsonSchema = {}) => ({ type: 'integer', description, ...keywords });

const LIFETIME = { examples: [ACCESS_TOKEN_SECONDS] };
const URI = { format: 'uri' };
const VERIFIER = { pattern: VERIFIER_SYNTAX.source };

const texts = (description: string, item: JsonSchema = {}) => ({
  type: 'array',
  description,
  items: { type: 'string', ...item },
});

/** Returns the body of a request that authenticates the client. */
function body(required: Record<string, JsonSchema>, optional: Record<string, JsonSchema>): JsonSchema {
  const client_id = text('Required, unless it is in a Basic header.');
  const client_secret = text('Required of confidential clients, unless it is in a Basic header.');
  return toObjectSchema(null, required, { ...optional, client_id, client_secret });
}

function grant(type: string, required: Record<string, JsonSchema>, optional: Record<string, JsonSchema> = {}) {
  return body({ grant_type: { type: 'string', const: type, description: 'Grant type.' }, ...required }, optional);
}

/** Of the grants of a user, where they may be left out. */
const OPTIONAL_AUDIENCE = {
  audience: text('Base address of the API; may be left out.'),
  resource: text('That of the authorization request; may be left out.', URI),
};

/** What an access token and its introspection say. */
const TOKEN_CLAIMS = {
  sub: text('The user, or the client when the token is for the client itself.'),
  client_id: text('The client that the token was issued to.'),
  builder_id: text('The builder that the token gives access to; only for tokens of users.', { pattern }),
  iss: text('Base address of the API.', URI),
  scope: text('The granted scopes, separated by spaces.'),
  iat: integer('When the token was issued, in seconds since the epoch.'),
};

const tokenRequest = body({ token: text('An access or refresh token.') }, { token_type_hint: text('Ignored.') });

const GRANTS = {
  client_credentials: 'ClientCredentialsGrant',
  authorization_code: 'AuthorizationCodeGrant',
  refresh_token: 'RefreshTokenGrant',
};

/** Request and response bodies of the OAuth endpoints. Rules: docs/contract/oauth.md. */
export const oauthSchemas: Record<string, JsonSchema> = {
  TokenRequest: {
    oneOf: Object.values(GRANTS).map(referToSchema),
    discriminator: {
      propertyName: 'grant_type',
      mapping: Object.fromEntries(Object.entries(GRANTS).map(([type, name]) => [type, referToSchema(name).$ref])),
    },
  },
  ClientCredentialsGrant: grant(
    'client_credentials',
    {},
    {
      audience: text('Base address of the API. Required without `resource`.'),
      scope: text(
        `${SCOPE_DESCRIPTION} Required without \`resource\`; with it, the default is all scopes of the client.`,
      ),
      resource: text(RESOURCE_DESCRIPTION, URI),
    },
  ),
  AuthorizationCodeGrant: grant(
    'authorization_code',
    {
      code: text('The `code` of the authorization response.'),
      redirect_uri: text('The same as at `/oauth/authorize`.', URI),
      code_verifier: text('The PKCE verifier that the challenge was computed from.', VERIFIER),
    },
    OPTIONAL_AUDIENCE,
  ),
  RefreshTokenGrant: grant(
    'refresh_token',
    { refresh_token: text('The newest refresh token.') },
    { scope: text('A subset of the consented scopes. Default: all of them.'), ...OPTIONAL_AUDIENCE },
  ),
  Token: toObjectSchema(
    null,
    {
      access_token: text('A JWT, signed with HMAC-SHA256, whose claims are those of `AccessTokenClaims`.', {
        contentMediaType: 'application/jwt',
        contentSchema: referToSchema('AccessTokenClaims'),
      }),
      token_type: text('Always `Bearer`.', { enum: ['Bearer'] }),
      expires_in: integer('Lifetime in seconds.', LIFETIME),
      expires: integer('The same as `expires_in`.', { deprecated: true, ...LIFETIME }),
      scope: text('The granted scopes, separated by spaces.'),
    },
    { refresh_token: text('Refresh token, to get the next access token. Only for grants of a user.') },
  ),
  AccessTokenClaims: {
    type: 'object',
    description: 'Claims of an access token. A client need not read them: `GET /me` gives what they mean.',
    properties: {
      ...TOKEN_CLAIMS,
      aud: text('Base address of the API.', URI),
      jti: text('Identifies the token.'),
      exp: integer(`When the token ends, in seconds since the epoch: \`iat\` plus ${ACCESS_TOKEN_SECONDS}.`),
    },
    required: ['sub', 'client_id', 'iss', 'aud', 'scope', 'jti', 'iat', 'exp'],
  },
  RevocationRequest: tokenRequest,
  IntrospectionRequest: tokenRequest,
  Introspection: toObjectSchema(
    null,
    {
      active: {
        type: 'boolean',
        description: 'Whether the token is valid now. When false, no other field is present.',
      },
    },
    {
      ...TOKEN_CLAIMS,
      token_type: text('Present for access tokens only.', { enum: ['Bearer'] }),
      jti: text('Present for access tokens only.'),
      aud: text('Present for access tokens only.'),
      exp: integer('When the token ends, in seconds since the epoch.'),
    },
  ),
  AuthorizationServerMetadata: {
    type: 'object',
    properties: {
      issuer: text('Base address of the API.', URI),
      authorization_endpoint: text('Where the browser of a user is sent.', URI),
      token_endpoint: text('Where tokens are issued.', URI),
      revocation_endpoint: text('Where tokens are revoked.', URI),
      introspection_endpoint: text('Where a client asks about its tokens.', URI),
      scopes_supported: texts('Every scope that there is.', { enum: SCOPES }),
      response_types_supported: texts('Values of `response_type`.'),
      grant_types_supported: texts('Values of `grant_type`.'),
      code_challenge_methods_supported: texts('Values of `code_challenge_method`.'),
    },
    required: ['issuer', 'authorization_endpoint', 'token_endpoint', 'response_types_supported'],
    additionalProperties: true,
  },
};
