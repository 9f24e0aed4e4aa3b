import type { JsonSchema } from '../../schema/scalars.ts';
import { SCOPES, type Scope } from '../../schema/scopes.ts';
import { REGIONS } from '../context.ts';
import { parameterReference } from './openapi/parameters.ts';
import { limitAndFailureResponses, respond } from './openapi/responses.ts';
import { referenceTo } from './openapi/schemas.ts';

/** A route that is no GraphQL operation: its handler is Fastify's own, and what the OpenAPI document says of it stands here. */
export interface PlainRoute {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  /** Scope that its access token needs, null when a valid token is enough; `public` when it takes none. */
  access: Scope | null | 'public';
  /** OpenAPI operation object. */
  operation: { operationId: string; tags: [string]; responses: Record<string, object> } & Record<string, unknown>;
}

/** Every plain route that integrators call. */
export const plainRoutes = (baseUrl: string): PlainRoute[] => [
  {
    method: 'POST',
    path: '/oauth/token',
    access: 'public',
    operation: {
      operationId: 'token',
      tags: ['Authentication'],
      summary: 'Get an access token',
      description:
        'The client-credentials grant, for confidential clients. The credentials stand in the body or in a Basic `Authorization` header. A client is found in its region without `X-Service-Region-Id`. Errors are those of RFC 6749.',
      security: [{ clientCredentials: [] }, {}],
      parameters: [parameterReference('RegionId'), parameterReference('RequestId')],
      requestBody: {
        required: true,
        content: tokenRequests(baseUrl),
      },
      responses: {
        200: answer('The access token.', referenceTo('Token'), {
          access_token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJjbGlfYTBta3EifQ.Q0Yb2c3d4e5f6a7b8c9d0e',
          token_type: 'Bearer',
          expires_in: 3600,
          expires: 3600,
          scope: 'read:builders read:projects',
        }),
        400: oauthError('The request is not one that can be granted.', {
          invalid_request: 'The parameter audience is missing.',
          invalid_scope: 'The client is not allowed: write:photos.',
          unauthorized_client: 'The client may not use the grant client_credentials.',
          unsupported_grant_type: 'The grant_type must be client_credentials.',
        }),
        401: oauthError(
          'The client is unknown or its credentials are wrong. `WWW-Authenticate: Basic` when they were in the header.',
          { invalid_client: 'The client is unknown or its credentials are wrong.' },
          ['WWW-Authenticate'],
        ),
        413: oauthError('The body is too large.', { invalid_request: 'The body may have at most 65536 bytes.' }),
        ...limitAndFailureResponses(),
      },
    },
  },
  {
    method: 'GET',
    path: '/health/live',
    access: 'public',
    operation: {
      operationId: 'healthLive',
      tags: ['Service'],
      summary: 'Tell whether the process answers',
      responses: { 200: answer('It does.', referenceTo('Liveness'), { status: 'ok' }, []) },
    },
  },
  {
    method: 'GET',
    path: '/health/ready',
    access: 'public',
    operation: {
      operationId: 'healthReady',
      tags: ['Service'],
      summary: 'Tell whether the service and its databases answer',
      responses: {
        200: answer('They do.', referenceTo('Readiness'), readiness('ok', 'ok'), []),
        503: answer('A database does not.', referenceTo('Readiness'), readiness('unavailable', 'ok'), []),
      },
    },
  },
];

function answer(description: string, schema: object, example: object, headers?: string[]): object {
  return respond(description, { schema, example }, headers);
}

function oauthError(description: string, errors: Record<string, string>, headers?: string[]): object {
  const examples = Object.entries(errors).map(([error, text]) => [
    error,
    { value: { error, error_description: text } },
  ]);
  const schema = {
    type: 'object',
    properties: {
      error: { type: 'string', enum: Object.keys(errors) },
      error_description: { type: 'string' },
      error_uri: { type: 'string', format: 'uri' },
    },
    required: ['error', 'error_description'],
  };
  return respond(description, { schema, examples: Object.fromEntries(examples) }, headers);
}

function tokenRequests(baseUrl: string): object {
  const asked = { grant_type: 'client_credentials', audience: baseUrl, scope: 'read:builders read:projects' };
  const credentials = { client_id: 'cli_a0mkq3v8t2n4c7x1p9r5w6yzb', client_secret: 'B2w0kqF1vZr8yXc5nQ7tLh3mJd9sGpUe' };
  const content = {
    schema: referenceTo('TokenRequest'),
    examples: {
      body: { summary: 'Credentials in the body', value: { ...asked, ...credentials } },
      header: { summary: 'Credentials in a Basic header', value: asked },
    },
  };
  return { 'application/json': content, 'application/x-www-form-urlencoded': content };
}

function readiness(au1: string, us1: string): object {
  return { status: au1 === 'ok' && us1 === 'ok' ? 'ok' : 'unavailable', regions: { au1, us1 } };
}

const state = { type: 'string', enum: ['ok', 'unavailable'] };

/** Components that plain routes refer to. */
export const plainSchemas: Record<string, JsonSchema> = {
  Liveness: {
    type: 'object',
    properties: { status: { type: 'string', enum: ['ok'] } },
    required: ['status'],
  },
  Readiness: {
    type: 'object',
    properties: {
      status: state,
      regions: {
        type: 'object',
        properties: Object.fromEntries(REGIONS.map((region) => [region, state])),
        required: REGIONS,
      },
    },
    required: ['status', 'regions'],
  },
  Token: {
    type: 'object',
    properties: {
      access_token: { type: 'string', description: 'A JWT, signed with HMAC-SHA256.' },
      token_type: { type: 'string', enum: ['Bearer'] },
      expires_in: { type: 'integer', description: 'Lifetime in seconds.', examples: [3600] },
      expires: { type: 'integer', description: 'The same as `expires_in`.', deprecated: true, examples: [3600] },
      scope: { type: 'string', description: 'The scopes granted, with spaces between.' },
    },
    required: ['access_token', 'token_type', 'expires_in', 'expires', 'scope'],
  },
  TokenRequest: {
    type: 'object',
    properties: {
      grant_type: { type: 'string', enum: ['client_credentials'] },
      client_id: { type: 'string', description: 'Required, unless it is in a Basic header.' },
      client_secret: { type: 'string', description: 'Required, unless it is in a Basic header.' },
      audience: { type: 'string', description: 'Base address of the API.' },
      scope: {
        type: 'string',
        description: `The scopes that are asked for, with spaces between: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.`,
      },
    },
    required: ['grant_type', 'audience', 'scope'],
  },
};
