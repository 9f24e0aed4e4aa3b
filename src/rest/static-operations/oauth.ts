import { type JsonSchema } from '../../../schema/scalar.ts';
import { BuilderId } from '../../../schema/scalars.ts';
import { ACCESS_TOKEN_SECONDS } from '../../auth/access-tokens.ts';
import { createServerMetadata } from '../../oauth/endpoints/server-metadata.ts';
import { transportErrorBody } from '../../oauth/errors.ts';
import {
  type ApiError,
  internalError,
  methodNotAllowed,
  payloadTooLarge,
  rateLimited,
  unavailable,
  unsupportedMediaType,
} from '../../shared/errors.ts';
import { parameterReference } from '../openapi/parameters.ts';
import { errorSchema, everyHeader, LIMIT_HEADERS, respond } from '../openapi/responses.ts';
import { referenceTo } from '../openapi/schemas.ts';
import { SCOPE_DESCRIPTION } from './oauth-schemas.ts';
import { answer, type PlainRoute } from './route.ts';

const CLIENT_ID = 'cli_a0mkq3v8t2n4c7x1p9r5w6yzb';
const CODE = 'Jt3vS8mQx1Zk5Rw0Yb7Nc2Fd9Hg4Lp6Ua0Es8Wi1Ko';
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const REDIRECT_URI = 'https://app.example.com/callback';
const TOKEN = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJjbGlfYTBta3EifQ.Q0Yb2c3d4e5f6a7b8c9d0e';
const builderId = BuilderId.extensions.jsonSchema as JsonSchema & { pattern: string; examples: string[] };
const credentials = { client_id: CLIENT_ID, client_secret: 'B2w0kqF1vZr8yXc5nQ7tLh3mJd9sGpUe' };

/** The OAuth endpoints. Rules: docs/contract/oauth.md. */
export const oauthRoutes = (baseUrl: string): PlainRoute[] => [
  {
    method: 'POST',
    path: '/oauth/token',
    access: 'public',
    operation: {
      operationId: 'issueToken',
      tags: ['Authentication'],
      summary: 'Get an access token',
      description:
        "Three grants: `client_credentials` for a confidential client in its own name, `authorization_code` and `refresh_token` for a user. The client's credentials stand in the body or in a Basic `Authorization` header; a public client sends its `client_id` alone. A refresh token lives 30 days and is replaced at each use. Errors are those of RFC 6749.",
      ...asClient(
        'TokenRequest',
        {
          clientCredentials: {
            summary: 'For the client itself',
            value: {
              grant_type: 'client_credentials',
              ...credentials,
              audience: baseUrl,
              scope: 'read:builders read:projects',
            },
          },
          basicHeader: {
            summary: 'For the client itself, credentials in a Basic header',
            value: { grant_type: 'client_credentials', audience: baseUrl, scope: 'read:builders read:projects' },
          },
          authorizationCode: {
            summary: 'For a user, with a code',
            value: {
              grant_type: 'authorization_code',
              ...{ client_id: CLIENT_ID, code: CODE, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER },
            },
          },
          refreshToken: {
            summary: 'For a user, with a refresh token',
            value: { grant_type: 'refresh_token', client_id: CLIENT_ID, refresh_token: CODE },
          },
        },
        {
          200: answer(
            'The access token.',
            referenceTo('Token'),
            {
              access_token: TOKEN,
              token_type: 'Bearer',
              expires_in: ACCESS_TOKEN_SECONDS,
              expires: ACCESS_TOKEN_SECONDS,
              scope: 'read:builders read:projects',
            },
            [...LIMIT_HEADERS, ...UNCACHED],
          ),
          400: oauthError('The request is not one that can be granted.', {
            invalid_request: 'The parameter audience is missing.',
            invalid_grant: 'The code or refresh token is invalid, expired or revoked.',
            invalid_scope: 'The client is not allowed: write:photos.',
            unauthorized_client: 'The client may not use the grant client_credentials.',
            unsupported_grant_type:
              'The grant_type must be one of client_credentials, authorization_code, refresh_token.',
          }),
        },
      ),
    },
  },
  {
    method: 'GET',
    path: '/oauth/authorize',
    access: 'public',
    operation: {
      operationId: 'authorize',
      tags: ['Authentication'],
      summary: 'Ask a user for access',
      description:
        "Opened in the user's browser. The user signs in, selects a builder when there are several, and consents. The browser then comes back to `redirect_uri` with `code`, `state` and `iss`, or with `error` (`access_denied`, `invalid_scope`, `server_error` and those of RFC 6749), `state` and `iss`. The code is good for one use within 10 minutes. The region is that of the client.",
      parameters: authorizeParameters(),
      responses: {
        200: page('The page where the user signs in, selects a builder or consents.'),
        302: {
          description: 'Back to the application.',
          headers: {
            ...everyHeader(),
            Location: {
              description: 'The `redirect_uri` with the code or the error.',
              schema: { type: 'string', format: 'uri' },
              example: `${REDIRECT_URI}?code=${CODE}&state=af0ifjsldkj&iss=${encodeURIComponent(baseUrl)}`,
            },
          },
        },
        400: page('The client or the `redirect_uri` is not one that is registered, so the error is shown to the user.'),
        429: page('Too many requests.', ['Retry-After']),
        500: page('Something went wrong on our side.'),
        503: page('The service cannot answer now; try again.', ['Retry-After']),
      },
    },
  },
  {
    method: 'POST',
    path: '/oauth/revoke',
    access: 'public',
    operation: {
      operationId: 'revokeToken',
      tags: ['Authentication'],
      summary: 'Revoke a token',
      description:
        'RFC 7009. An access token is revoked alone, a refresh token with all that came of the same consent. The answer is the same whether there was such a token or not.',
      ...asClient(
        'RevocationRequest',
        { accessToken: { value: { token: TOKEN, ...credentials } } },
        {
          200: {
            description: "The token, if it was one of the client's, is revoked. No body.",
            headers: everyHeader(UNCACHED),
          },
          400: oauthError('A parameter is missing or malformed.', {
            invalid_request: 'The parameter token is missing.',
          }),
        },
      ),
    },
  },
  {
    method: 'POST',
    path: '/oauth/introspect',
    access: 'public',
    operation: {
      operationId: 'introspectToken',
      tags: ['Authentication'],
      summary: 'Ask about a token',
      description: 'RFC 7662. For confidential clients, about their own tokens; any other token is `active: false`.',
      ...asClient(
        'IntrospectionRequest',
        { accessToken: { value: { token: TOKEN, ...credentials } } },
        {
          200: respond(
            'What the service knows of the token.',
            {
              schema: referenceTo('Introspection'),
              examples: {
                active: {
                  value: {
                    ...{
                      active: true,
                      scope: 'read:builders',
                      client_id: CLIENT_ID,
                      sub: CLIENT_ID,
                      token_type: 'Bearer',
                    },
                    ...{ jti: '7d1f3c52-8a6e-4a0e-9d0b-2f6f5c1f0b9e', aud: baseUrl, iss: baseUrl },
                    ...{ iat: 1772436600, exp: 1772440200 },
                  },
                },
                inactive: { value: { active: false } },
              },
            },
            [...LIMIT_HEADERS, ...UNCACHED],
          ),
          400: oauthError('A parameter is missing or malformed.', {
            invalid_request: 'The parameter token is missing.',
          }),
        },
      ),
    },
  },
  {
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    access: 'public',
    operation: {
      operationId: 'getAuthorizationServerMetadata',
      tags: ['Authentication'],
      summary: 'Get the metadata of the authorization server',
      description: 'RFC 8414.',
      responses: {
        200: answer(
          'The addresses and abilities of the endpoints above.',
          referenceTo('AuthorizationServerMetadata'),
          createServerMetadata(baseUrl),
          [],
        ),
      },
    },
  },
];

/** What the endpoints that a client authenticates to have in common. */
function asClient(request: string, examples: object, responses: Record<string, object>) {
  const content = { schema: referenceTo(request), examples };
  return {
    security: [{}, { clientCredentials: [] }],
    parameters: [parameterReference('ClientRegionId'), parameterReference('RequestId')],
    requestBody: {
      required: true,
      content: { 'application/json': content, 'application/x-www-form-urlencoded': content },
    },
    responses: {
      ...responses,
      401: oauthError(
        'The client is unknown or its credentials are wrong. `WWW-Authenticate: Basic` when they were in the header.',
        { invalid_client: 'The client is unknown or its credentials are wrong.' },
        ['WWW-Authenticate'],
      ),
      405: transportError('Only POST is allowed.', methodNotAllowed(['POST'])),
      413: transportError('The body is too large.', payloadTooLarge(65_536)),
      415: transportError(
        'The body is neither JSON nor a form.',
        unsupportedMediaType('application/json or application/x-www-form-urlencoded'),
      ),
      429: transportError('Too many requests; wait as `Retry-After` says.', rateLimited(7)),
      500: transportError('Something went wrong on our side.', internalError(null)),
      503: transportError('The service cannot answer now; try again.', unavailable(null)),
    },
  };
}

/** Headers of every answer of these endpoints, against caches. */
const UNCACHED = ['Cache-Control', 'Pragma'];

function oauthError(description: string, errors: Record<string, string>, headers = LIMIT_HEADERS): object {
  const examples = Object.entries(errors).map(([error, text]) => [
    error,
    { value: { error, error_description: text } },
  ]);
  const schema = {
    type: 'object',
    properties: {
      error: { type: 'string', enum: Object.keys(errors), description: 'What went wrong, for programs (RFC 6749).' },
      error_description: { type: 'string', description: 'What went wrong, for people. It may change.' },
      error_uri: { type: 'string', format: 'uri', description: 'Page about the error, where there is one.' },
    },
    required: ['error', 'error_description'],
  };
  return respond(description, { schema, examples: Object.fromEntries(examples) }, [...headers, ...UNCACHED]);
}

/** An error of the transport: OAuth's fields, and those that other operations have. */
function transportError(description: string, error: ApiError): object {
  const example = transportErrorBody(error) as Record<string, string>;
  const common = errorSchema([example.code!]);
  const schema = {
    ...common,
    properties: {
      error: { type: 'string', enum: [example.error], description: 'The error code of OAuth.' },
      error_description: { type: 'string', description: 'The same as `message`, for OAuth libraries.' },
      ...(common.properties as object),
    },
    required: ['error', 'error_description', 'code', 'message'],
  };
  return respond(description, { schema }, [...LIMIT_HEADERS, ...Object.keys(error.headers), ...UNCACHED]);
}

const page = (description: string, headers?: readonly string[]) => ({
  ...respond(description, {}, headers),
  content: { 'text/html': { schema: { type: 'string' }, example: '<!doctype html>' } },
});

function authorizeParameters(): object[] {
  const parameter = (name: string, required: boolean, description: string, schema: JsonSchema, example: string) => ({
    ...{ name, in: 'query', required, description, schema: { type: 'string', ...schema }, example },
  });
  return [
    parameter('response_type', true, 'What is asked for.', { enum: ['code'] }, 'code'),
    parameter('client_id', true, 'The client.', {}, CLIENT_ID),
    parameter('redirect_uri', true, 'One that is registered for the client, exactly.', { format: 'uri' }, REDIRECT_URI),
    parameter('scope', true, SCOPE_DESCRIPTION, {}, 'read:builders read:projects'),
    parameter('state', true, 'Comes back unchanged; ties the answer to the browser.', {}, 'af0ifjsldkj'),
    parameter(
      'code_challenge',
      true,
      'PKCE (RFC 7636), required of every client.',
      { pattern: '^[A-Za-z0-9._~-]{43,128}$' },
      'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    ),
    parameter(
      'code_challenge_method',
      true,
      'How the challenge is made of the verifier.',
      { enum: ['S256', 'PLAIN', 'plain'] },
      'S256',
    ),
    parameter(
      'builder_id',
      false,
      'The builder that is selected beforehand.',
      { pattern: builderId.pattern },
      builderId.examples[0]!,
    ),
  ];
}
