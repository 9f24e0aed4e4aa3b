import type { components } from './generated/openapi.ts';

/** One invalid field of a request: a path into the input as it was sent, and what is wrong with it. */
export type FieldError = components['schemas']['FieldError'];

/** A response that is an error. Its subclasses say which kind; `code` says which one exactly. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  /** Stable upper-case code, such as `NOT_FOUND`; `VALIDATION` for a 400 with `errors`. */
  readonly code: string;
  /** Every invalid field of the request; empty for other errors. */
  readonly errors: FieldError[];
  /** Quote it to support. Null when the response did not come from the service. */
  readonly requestId: string | null;
  /** Seconds until the request may be repeated; null when the response does not say. */
  readonly retryAfter: number | null;
  /** The service's clock in whole seconds, when it answered. */
  readonly date: Date | null;

  constructor(response: Response, body: unknown) {
    const { code, message, errors, error, error_description } = (isObject(body) ? body : {}) as Record<string, unknown>;
    const fieldErrors = Array.isArray(errors) ? (errors as FieldError[]) : [];
    const fields = fieldErrors.map((field) => `${field.fieldName}: ${field.message}`).join(' ');
    super(String(message ?? error_description ?? (fields || `The response is ${response.status}.`)));
    this.status = response.status;
    this.code = String(code ?? error ?? (fieldErrors.length > 0 ? 'BAD_USER_INPUT' : `HTTP_${response.status}`));
    this.errors = fieldErrors;
    this.requestId = response.headers.get('x-request-id');
    this.retryAfter = readRetryAfter(response);
    const date = response.headers.get('date');
    this.date = date === null ? null : new Date(date);
  }
}

/** 400: the request is wrong. It is never sent again. */
export class ValidationError extends ApiError {
  override name = 'ValidationError';
}
/** 401: neither the token nor one newly requested is accepted. */
export class UnauthenticatedError extends ApiError {
  override name = 'UnauthenticatedError';
}
/** 403: the client, the connection or the user may not do this. */
export class ForbiddenError extends ApiError {
  override name = 'ForbiddenError';
}
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}
/** 410: the cursor has expired, or the record has been deleted. */
export class GoneError extends ApiError {
  override name = 'GoneError';
}
/** 410 `CURSOR_EXPIRED`: copy the lists again. */
export class CursorExpiredError extends GoneError {
  override name = 'CursorExpiredError';
}
/** 429 in spite of the retries. */
export class RateLimitedError extends ApiError {
  override name = 'RateLimitedError';
}
/** 5xx in spite of the retries. */
export class ServiceError extends ApiError {
  override name = 'ServiceError';
}

/** There was no whole response, in spite of the retries; `cause` says why. */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
}

const CLASSES: Record<number, typeof ApiError> = {
  400: ValidationError,
  401: UnauthenticatedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  429: RateLimitedError,
};

/** Returns the error of a response, whose body is JSON or anything that a proxy says. */
export function createError(response: Response, text: string): ApiError {
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // The body is a proxy's.
  }
  const { [response.status]: Class = response.status >= 500 ? ServiceError : ApiError } = CLASSES;
  const error = new Class(response, body);
  return error.code === 'CURSOR_EXPIRED' ? new CursorExpiredError(response, body) : error;
}

/** Returns the seconds of `Retry-After`, which holds seconds or a date. */
function readRetryAfter({ headers }: Response): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  // The difference to the server's own clock: the local one may be wrong.
  const seconds = (Date.parse(value) - Date.parse(headers.get('date') ?? new Date().toUTCString())) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
