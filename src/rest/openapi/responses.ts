import { API_VERSION } from '../../../schema/rest.ts';
import type { JsonSchema } from '../../../schema/scalar.ts';
import { MAX_LIMIT } from '../../../schema/scalars.ts';
import { BODY_LIMIT } from '../../http/options.ts';
import {
  type ApiError,
  cursorExpired,
  forbidden,
  idempotencyKeyReused,
  idempotentRecordGone,
  insufficientScope,
  internalError,
  invalidField,
  MAX_FIELD_ERRORS,
  notFound,
  payloadTooLarge,
  rateLimited,
  unauthenticated,
  unavailable,
  unsupportedMediaType,
  uploadQuotaExceeded,
} from '../../shared/errors.ts';
import { referToSchema, toObjectSchema } from './schemas.ts';

const createTextHeader = (description: string, example: string) => ({
  description,
  schema: { type: 'string', examples: [example] },
});

const createCountHeader = (description: string, example: number, minimum = 1) => ({
  description,
  schema: { type: 'integer', minimum, examples: [example] },
});

const createFixedHeader = (description: string, value: string) => ({
  description,
  schema: { type: 'string', enum: [value] },
});

const HEADERS = {
  'X-Request-Id': createTextHeader(
    'Identifier of the request: the one that was sent, or a generated one. Quote it in support requests.',
    '7d1f3c52-8a6e-4a0e-9d0b-2f6f5c1f0b9e',
  ),
  'X-Service-Api-Version': createFixedHeader('Version of the API that answered.', API_VERSION),
  'X-RateLimit-Limit': createCountHeader('Requests that the window allows; absent when there is no limit.', 1000),
  'X-RateLimit-Remaining': createCountHeader('Requests left in the window.', 998, 0),
  'X-RateLimit-Reset': createCountHeader('Seconds until the window ends and the budget is full again.', 7),
  'Retry-After': createCountHeader('Seconds to wait before the next attempt.', 7),
  Link: createTextHeader(
    'Address of the explanation of the error, with `rel="help"`.',
    '</docs/guides/error-codes#RATE_LIMITED>; rel="help"',
  ),
  'Idempotency-Replayed': createFixedHeader(
    'An earlier request with the same `Idempotency-Key` created the record.',
    'true',
  ),
  Allow: createTextHeader('Methods that the path supports.', 'POST'),
  'Cache-Control': createFixedHeader('The response must not be stored.', 'no-store'),
  Pragma: createFixedHeader('The same for caches of HTTP/1.0.', 'no-cache'),
  'WWW-Authenticate': createTextHeader(
    'The challenge of RFC 6750; it names the missing scope where one is missing.',
    'Bearer error="invalid_token"',
  ),
} as const;

type HeaderName = keyof typeof HEADERS;

export const LIMIT_HEADERS: readonly HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
/** Headers of an error beyond those that every response has. */
const ERROR_HEADERS: readonly HeaderName[] = [...LIMIT_HEADERS, 'Link'];
const COMMON_HEADERS: HeaderName[] = ['X-Request-Id', 'X-Service-Api-Version'];

const headersNamed = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Returns the headers that every response of the service has, and further ones. */
export const describeHeaders = (extra: readonly string[] = []) => headersNamed([...COMMON_HEADERS, ...extra]);

/**
 * Returns a JSON response. Its examples are recorded responses: see `recorded-responses.ts`.
 *
 * @param extraHeaders headers beyond those that every response has.
 * @param examples names of its examples, where it has several.
 */
export function describeJsonResponse(
  description: string,
  schema: JsonSchema,
  extraHeaders: readonly string[] = LIMIT_HEADERS,
  examples?: readonly string[],
) {
  const named = examples && { examples: Object.fromEntries(examples.map((name) => [name, {}])) };
  return { description, headers: describeHeaders(extraHeaders), content: { 'application/json': { schema, ...named } } };
}

interface ErrorResponse {
  description: string;
  /** One error of each kind, by the name of its recorded example. */
  errors: Record<string, ApiError>;
}

const NOT_CONNECTED = forbidden('The builder is not connected to this integrator.');

/** Errors that many operations share, by the name of their component. */
const ERRORS = {
  InvalidInput: {
    description: 'The input is wrong. Every failing field is named, with its path as the client wrote it.',
    errors: {
      parameter: invalidField('limit', `must be an integer from 1 to ${MAX_LIMIT}`),
      header: invalidField('X-Service-Builder-Id', 'is required'),
      body: invalidField('body', 'must be valid JSON'),
    },
  },
  Unauthenticated: {
    description: 'There is no access token, or it is invalid, expired, revoked or of another region.',
    errors: {
      missing: unauthenticated('An access token is required.', false),
      invalid: unauthenticated('The access token is invalid, expired or revoked.', true),
    },
  },
  Forbidden: {
    description:
      "The token or the builder's connection does not allow the scope, or the token gives no access to the builder.",
    errors: {
      scope: insufficientScope('read:projects'),
      connection: insufficientScope('read:projects', "The builder's connection does not allow read:projects."),
      builder: NOT_CONNECTED,
    },
  },
  ForbiddenBuilder: { description: 'The token gives no access to the builder.', errors: { builder: NOT_CONNECTED } },
  NotFound: {
    description: 'There is no such resource, or it belongs to a builder that the token gives no access to.',
    errors: { resource: notFound('Project') },
  },
  CursorExpired: {
    description: 'The events after the cursor are no longer stored. Read the lists again in full.',
    errors: { cursor: cursorExpired() },
  },
  IdempotentRecordGone: {
    description: 'The record that the `Idempotency-Key` created has been deleted.',
    errors: { record: idempotentRecordGone() },
  },
  IdempotencyKeyReused: {
    description: 'The `Idempotency-Key` was used for another request in the last 24 hours.',
    errors: { key: idempotencyKeyReused() },
  },
  PayloadTooLarge: { description: 'The body is too large.', errors: { body: payloadTooLarge(BODY_LIMIT) } },
  UnsupportedMediaType: {
    description: 'The operation does not accept the media type of the body.',
    errors: { body: unsupportedMediaType('application/json') },
  },
  RateLimited: { description: 'Too many requests; wait as `Retry-After` says.', errors: { limit: rateLimited(7) } },
  UploadQuota: {
    description: 'Too many requests, or too many bytes of uploads that no photo uses; wait as `Retry-After` says.',
    errors: { limit: rateLimited(7), quota: uploadQuotaExceeded(16 * 1024 ** 3) },
  },
  Internal: {
    description:
      'Internal error of the service. Reads, and writes with an identifier of the client such as `externalSourceId` or an `Idempotency-Key`, can be sent again.',
    errors: { failure: internalError(null) },
  },
  Unavailable: {
    description: 'The service is temporarily unavailable; send the request again later.',
    errors: { database: unavailable(null) },
  },
} satisfies Record<string, ErrorResponse>;

type ErrorName = keyof typeof ERRORS;

/** Properties of an operation with an access token that determine its errors. */
interface OperationTraits {
  hasScope: boolean;
  /** Whether it names a builder or another resource. */
  hasResource: boolean;
  hasBody: boolean;
  /** Codes of its 409 responses. */
  conflicts: readonly string[];
  /** Whether it is charged to the integrator's quota of uploads. */
  hasQuota: boolean;
  /** Whether its cursor can expire. */
  cursorExpires?: boolean;
  takesKey?: boolean;
}

/** Returns the error responses of an operation, by status. */
export function describeErrorResponses(traits: OperationTraits): Record<string, object> {
  const { hasScope, hasResource, hasBody, conflicts, hasQuota, cursorExpires, takesKey } = traits;
  return {
    400: referToError('InvalidInput'),
    401: referToError('Unauthenticated'),
    403: referToError(hasScope ? 'Forbidden' : 'ForbiddenBuilder'),
    ...(hasResource && { 404: referToError('NotFound') }),
    ...(conflicts.length > 0 && {
      409: describeJsonResponse(
        'The request conflicts with stored data; nothing was changed.',
        createErrorSchema(conflicts),
        ERROR_HEADERS,
        conflicts,
      ),
    }),
    ...(cursorExpires && { 410: referToError('CursorExpired') }),
    ...(takesKey && { 410: referToError('IdempotentRecordGone'), 422: referToError('IdempotencyKeyReused') }),
    ...(hasBody && { 413: referToError('PayloadTooLarge'), 415: referToError('UnsupportedMediaType') }),
    429: referToError(hasQuota ? 'UploadQuota' : 'RateLimited'),
    500: referToError('Internal'),
    503: referToError('Unavailable'),
  };
}

/** Returns the reference of a shared error response. */
export const referToError = (name: ErrorName) => ({ $ref: `#/components/responses/${name}` });

/** Returns the schema of an error with one of the codes. */
export const createErrorSchema = (codes: readonly string[]): JsonSchema =>
  toObjectSchema(null, {
    code: { type: 'string', enum: codes, description: 'Stable error code.' },
    message: { type: 'string', description: 'Description of the error in English. It may change.' },
  });

function toErrorResponse({ description, errors }: ErrorResponse) {
  const samples = Object.values(errors);
  const isValidation = samples[0]!.status === 400;
  const schema = isValidation
    ? referToSchema('ValidationErrors')
    : createErrorSchema([...new Set(samples.map(({ code }) => code))]);
  const headers = new Set(samples.flatMap((error) => Object.keys(error.headers)));
  return describeJsonResponse(description, schema, [...ERROR_HEADERS, ...headers], Object.keys(errors));
}

/** Returns the components that the responses of operations refer to. */
export const createResponseComponents = () => ({
  headers: HEADERS,
  responses: Object.fromEntries(Object.entries(ERRORS).map(([name, error]) => [name, toErrorResponse(error)])),
});

export const validationSchemas: Record<string, JsonSchema> = {
  FieldError: toObjectSchema('One failing field of the input.', {
    fieldName: {
      type: 'string',
      description: 'Path into the input: `limit`, `photos[0].imageAttachment.key`, or the name of a header.',
    },
    message: { type: 'string', description: 'Description of the error.' },
  }),
  ValidationErrors: toObjectSchema('Every failing field of the input at once.', {
    errors: {
      type: 'array',
      description: `Every failing field, at most ${MAX_FIELD_ERRORS}.`,
      items: referToSchema('FieldError'),
      minItems: 1,
      maxItems: MAX_FIELD_ERRORS,
    },
  }),
};
