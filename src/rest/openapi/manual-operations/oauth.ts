import { type JsonSchema } from '../../../../schema/scalar.ts';
import { BuilderId } from '../../../../schema/scalars.ts';
import { VERIFIER_SYNTAX } from '../../../oauth/checks/pkce.check.ts';
import { BODY_LIMIT, MEDIA_TYPES } from '../../../oauth/endpoints/endpoint.ts';
import { toTransportErrorBody } from '../../../oauth/errors.ts';
import { REFRESH_TOKEN_SECONDS } from '../../../oauth/tokens/refresh-tokens.ts';
import {
  type ApiError,
  internalError,
  methodNotAllowed,
  payloadTooLarge,
  rateLimited,
  unavailable,
  unsupportedMediaType,
} from '../../../shared/errors.ts';
import { referToParameter } from '../parameters.ts';
import { createErrorSchema, describeHeaders, describeJsonResponse, LIMIT_HEADERS } from '../responses.ts';
import { getScalarSchema, referToSchema, toObjectSchema } from '../schemas.ts';
import type { ManualOperation } from './manual-operation.ts';
import { RESOURCE_DESCRIPTION, SCOPE_DESCRIPTION } from './oauth-schemas.ts';

const CLIENT_ID = 'cli_a0mkq3v8t2n4c7x1p9r5w6yzb';
const CODE = 'Jt3vS8mQx1Zk5Rw0Yb7Nc2Fd9Hg4Lp6Ua0Es8Wi1Ko';
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const REDIRECT_URI = 'https://app.example.com/callback';
const TOKEN = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJjbGlfYTBta3EifQ.Q0Yb2c3d4e5f6a7b8c9d0e';
const UNAVAILABLE = 'The service is temporarily unavailable; send the request again later.';
const { pattern, examples } = getScalarSchema(BuilderId) as { pattern: string; examples: string[] };
const credentials = { client_id: CLIENT_ID, client_secret: 'B2w0kqF1vZr8yXc5nQ7tLh3mJd9sGpUe' };

/** Returns the OAuth endpoints. Rules: docs/contract/oauth.md. */
export const createOAuthOperations = (baseUrl: string): ManualOperation[] => [
  clientEndpoint('token', 'TokenRequest', {
    operationId: 'issueToken',
    summary: 'Get an access token',
    description: `Three grants: \`client_credentials\` for a confidential client in its own name, \`authorization_code\` and \`refresh_token\` for a user. The client's credentials stand in the body or in a Basic \`Authorization\` header; a public client sends its \`client_id\` alone. A refresh token lives ${REFRESH_TOKEN_SECONDS / 86_400} days and is replaced at each use. Errors are those of RFC 6749.`,
    examples: createGrantExamples(baseUrl),
    success: describeJsonResponse('The access token.', referToSchema('Token'), [...LIMIT_HEADERS, ...UNCACHED]),
    failure: oauthError('The grant is rejected: see `error`.', [
      'invalid_request',
      'invalid_grant',
      'invalid_scope',
      'unauthorized_client',
      'unsupported_grant_type',
      'invalid_target',
    ]),
  }),
  {
    method: 'GET',
    path: '/oauth/authorize',
    access: 'public',
    operationId: 'authorize',
    tags: ['Authentication'],
    summary: 'Authorize',
    description:
      "Opened in the user's browser. The user signs in, selects a builder when there are several, and consents. The browser then comes back to `redirect_uri` with `code`, `state` and `iss`, or with `error` (`access_denied`, `invalid_scope`, `server_error` and those of RFC 6749), `state` and `iss`. The code is good for one use within 10 minutes. The region is that of the client.",
    parameters: AUTHORIZE_PARAMETERS.map(([name, description, example, schema]) => ({
      name,
      in: 'query',
      required: name !== 'builder_id' && name !== 'resource',
      description,
      schema: { type: 'string', ...schema },
      example: example ?? baseUrl,
    })),
    responses: {
      200: htmlResponse('The page where the user signs in, selects a builder or consents.'),
      302: {
        description: 'Redirect to the application.',
        headers: {
          ...describeHeaders(),
          Location: {
            description: 'The `redirect_uri` with the code or the error as query parameters.',
            schema: { type: 'string', format: 'uri' },
            example: `${REDIRECT_URI}?code=${CODE}&state=af0ifjsldkj&iss=${encodeURIComponent(baseUrl)}`,
          },
        },
      },
      400: htmlResponse(
        'The client or the `redirect_uri` is not one that is registered, so the error is shown to the user.',
      ),
      429: htmlResponse('Too many requests.', ['Retry-After']),
      500: htmlResponse('Internal error of the service.'),
      503: htmlResponse(UNAVAILABLE, ['Retry-After']),
    },
  },
  clientEndpoint('revoke', 'RevocationRequest', {
    operationId: 'revokeToken',
    summary: 'Revoke a token',
    description:
      'RFC 7009. An access token is revoked alone, a refresh token with all that came of the same consent. The answer is the same whether there was such a token or not.',
    success: {
      description: "The token, if it was one of the client's, is revoked. No body.",
      headers: describeHeaders(UNCACHED),
    },
  }),
  clientEndpoint('introspect', 'IntrospectionRequest', {
    operationId: 'introspectToken',
    summary: 'Introspect a token',
    description: 'RFC 7662. For confidential clients, about their own tokens; any other token is `active: false`.',
    success: describeJsonResponse(
      'State and claims of the token.',
      referToSchema('Introspection'),
      [...LIMIT_HEADERS, ...UNCACHED],
      ['active', 'inactive'],
    ),
  }),
  {
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    access: 'public',
    operationId: 'getAuthorizationServerMetadata',
    tags: ['Authentication'],
    summary: 'Get the metadata of the authorization server',
    description: 'RFC 8414.',
    responses: {
      200: describeJsonResponse(
        'Addresses and supported features of the OAuth endpoints.',
        referToSchema('AuthorizationServerMetadata'),
        [],
      ),
    },
  },
];

/** Parameters of an authorization request. The example of the one without any is the base address. */
const AUTHORIZE_PARAMETERS: readonly [name: string, description: string, example?: string, schema?: JsonSchema][] = [
  ['response_type', 'Response type. Always `code`.', 'code', { enum: ['code'] }],
  ['client_id', 'The client.', CLIENT_ID],
  ['redirect_uri', 'A registered redirect URI of the client, compared exactly.', REDIRECT_URI, { format: 'uri' }],
  ['scope', SCOPE_DESCRIPTION, 'read:builders read:projects'],
  ['state', 'Opaque value that is returned unchanged; binds the response to the browser (CSRF).', 'af0ifjsldkj'],
  [
    'code_challenge',
    'PKCE (RFC 7636), required of every client.',
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    { pattern: VERIFIER_SYNTAX.source },
  ],
  ['code_challenge_method', 'Method of the PKCE challenge.', 'S256', { enum: ['S256', 'PLAIN', 'plain'] }],
  ['resource', RESOURCE_DESCRIPTION, undefined, { format: 'uri' }],
  ['builder_id', 'Builder that is preselected on the page.', examples[0]!, { pattern }],
];

function createGrantExamples(audience: string): object {
  const request = { audience, scope: 'read:builders read:projects' };
  const grant = { grant_type: 'client_credentials' };
  const ofUser = { client_id: CLIENT_ID, code: CODE, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER };
  return {
    clientCredentials: { summary: 'Client credentials', value: { ...grant, ...credentials, ...request } },
    basicHeader: { summary: 'Client credentials, in a Basic header', value: { ...grant, ...request } },
    authorizationCode: { summary: 'Authorization code', value: { grant_type: 'authorization_code', ...ofUser } },
    refreshToken: {
      summary: 'Refresh token',
      value: { grant_type: 'refresh_token', client_id: CLIENT_ID, refresh_token: CODE },
    },
  };
}

interface ClientEndpoint {
  operationId: string;
  summary: string;
  description: string;
  examples?: object;
  success: object;
  /** The response 400. */
  failure?: object;
}

/** Returns the operation of an endpoint that authenticates the client. */
function clientEndpoint(
  name: string,
  request: string,
  {
    operationId,
    examples = { accessToken: { value: { token: TOKEN, ...credentials } } },
    success,
    failure = oauthError('A parameter is missing or malformed.', ['invalid_request']),
    ...texts
  }: ClientEndpoint,
): ManualOperation {
  const content = { schema: referToSchema(request), examples };
  const unsupported = unsupportedMediaType(MEDIA_TYPES.join(' or '));
  return {
    method: 'POST',
    path: `/oauth/${name}`,
    access: 'public',
    operationId,
    tags: ['Authentication'],
    ...texts,
    security: [{}, { clientCredentials: [] }],
    parameters: (['ApiVersion', 'ClientRegionId', 'RequestId'] as const).map(referToParameter),
    requestBody: {
      required: true,
      content: Object.fromEntries(MEDIA_TYPES.map((type) => [type, content])),
    },
    responses: {
      200: success,
      400: failure,
      401: oauthError(
        'The client is unknown or its credentials are wrong. `WWW-Authenticate: Basic` when they were in the header.',
        ['invalid_client'],
        ['WWW-Authenticate'],
      ),
      405: describeTransportError('Only POST is allowed.', methodNotAllowed(['POST'])),
      413: describeTransportError('The body is too large.', payloadTooLarge(BODY_LIMIT)),
      415: describeTransportError('The body is neither JSON nor a form.', unsupported),
      429: describeTransportError('Too many requests; wait as `Retry-After` says.', rateLimited(7)),
      500: describeTransportError('Internal error of the service.', internalError(null)),
      503: describeTransportError(UNAVAILABLE, unavailable(null)),
    },
  };
}

/** Headers that prevent caching of a response. */
const UNCACHED = ['Cache-Control', 'Pragma'];

/** Returns the response for error codes of RFC 6749. */
function oauthError(description: string, codes: readonly string[], headers: readonly string[] = LIMIT_HEADERS): object {
  const required = {
    error: { type: 'string', enum: codes, description: 'Error code of RFC 6749.' },
    error_description: { type: 'string', description: 'Description of the error in English. It may change.' },
  };
  const error_uri = {
    type: 'string',
    format: 'uri',
    description: 'Address of a page about the error, if there is one.',
  };
  const schema = toObjectSchema(null, required, { error_uri });
  return describeJsonResponse(description, schema, [...headers, ...UNCACHED], codes);
}

/** Returns the response for a transport error: the fields of OAuth and those of other operations. */
function describeTransportError(description: string, error: ApiError): object {
  const { error: oauthCode } = toTransportErrorBody(error) as { error: string };
  const schema = toObjectSchema(null, {
    error: { type: 'string', enum: [oauthCode], description: 'The error code of OAuth.' },
    error_description: { type: 'string', description: 'The same as `message`, for OAuth libraries.' },
    ...(createErrorSchema([error.code]).properties as object),
  });
  return describeJsonResponse(description, schema, [...LIMIT_HEADERS, ...Object.keys(error.headers), ...UNCACHED]);
}

const htmlResponse = (description: string, headers: readonly string[] = LIMIT_HEADERS) => ({
  description,
  headers: describeHeaders(headers),
  content: { 'text/html': { schema: { type: 'string' }, example: '<!doctype html>' } },
});
