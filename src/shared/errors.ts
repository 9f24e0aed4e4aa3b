/** One failing field of the input. ERR-1. */
export interface FieldError {
  /** Path into the input as the client wrote it: `limit`, `page.blocks[3].properties.level`. */
  fieldName: string;
  message: string;
}

interface ErrorOptions {
  cause?: unknown;
  /** Response headers that belong to the error, such as `Allow` or `WWW-Authenticate`. */
  headers?: Record<string, string>;
  /** The message without values of the request, for the request log. Default: the message. REQ-4. */
  rule?: string;
}

/** Maximum field errors in one response. ERR-3. */
export const MAX_FIELD_ERRORS = 100;

/** Maximum characters of a client's own name in the path of a field error: up to `MAX_FIELD_ERRORS` paths repeat it. */
const MAX_NAME_LENGTH = 100;

/** Returns the beginning of a long name, as part of a path. */
export const shortenName = (name: string): string =>
  name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…`.toWellFormed() : name;

/** HTTP status of each error code. Every other code names a conflict with what is stored: 409. */
const STATUSES: Readonly<Record<string, number>> = {
  BAD_USER_INPUT: 400,
  SUBSCRIPTION_NOT_SUPPORTED: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  INSUFFICIENT_SCOPE: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CURSOR_EXPIRED: 410,
  IDEMPOTENT_RECORD_GONE: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  UPLOAD_QUOTA: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  UNAVAILABLE: 503,
};

/**
 * A public error. Any other error that is thrown becomes `INTERNAL`, and its message is only logged. REST sends `{ code, message }`, or
 * `{ errors }` for a validation error; GraphQL has the same in `extensions`.
 */
export class ApiError extends Error {
  readonly code: string;
  readonly headers: Record<string, string>;
  readonly rule: string;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.headers = options.headers ?? {};
    this.rule = options.rule ?? message;
  }

  /** HTTP status of the response. */
  get status(): number {
    return STATUSES[this.code] ?? 409;
  }

  /** Whether the request is to blame, and not the service. */
  get isRejection(): boolean {
    return this.status < 500;
  }

  /** Returns the JSON body of the REST response. ERR-1, ERR-10. */
  body(): object {
    return { code: this.code, message: this.message };
  }
}

/** 400: one or more fields of the input are wrong. */
export class ValidationError extends ApiError {
  readonly errors: FieldError[];

  /** Further properties of GraphQL's `extensions`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(all: readonly FieldError[], details: Record<string, unknown> = {}) {
    const errors = all.slice(0, MAX_FIELD_ERRORS);
    super('BAD_USER_INPUT', errors.map((error) => `${error.fieldName}: ${error.message}`).join('; '));
    this.errors = errors;
    this.details = details;
  }

  override body(): object {
    return { errors: this.errors };
  }
}

/** Collects the errors of one input. Throws a `ValidationError` once there are `MAX_FIELD_ERRORS`. */
export class FieldErrors {
  readonly #errors: FieldError[] = [];

  get count(): number {
    return this.#errors.length;
  }

  add(...errors: FieldError[]): void {
    this.#errors.push(...errors);
    if (this.#errors.length >= MAX_FIELD_ERRORS) this.throwIfAny();
  }

  /** Adds the errors of fields that have none yet. */
  addNew(...errors: FieldError[]): void {
    for (const error of errors) {
      if (!this.#errors.some(({ fieldName }) => fieldName === error.fieldName)) this.add(error);
    }
  }

  /** Whether a value that contains the field has an error. */
  hasAbove(fieldName: string): boolean {
    return this.#errors.some(
      ({ fieldName: above }) => fieldName.startsWith(`${above}.`) || fieldName.startsWith(`${above}[`),
    );
  }

  /** Sorts the errors by the positions of the names that their paths begin with; those of other names are last. */
  sort(names: readonly string[]): void {
    const toPosition = ({ fieldName }: FieldError) => {
      const position = names.indexOf(/^[^.[]*/.exec(fieldName)![0]);
      return position < 0 ? names.length : position;
    };
    this.#errors.sort((one, other) => toPosition(one) - toPosition(other));
  }

  throwIfAny(): void {
    if (this.#errors.length > 0) throw new ValidationError(this.#errors);
  }
}

export const invalidField = (fieldName: string, message: string) => new ValidationError([{ fieldName, message }]);

/** 401 with the challenge of RFC 6750: `error="invalid_token"` for an invalid token, and no error without a token. */
export function unauthenticated(message: string, tokenSent: boolean): ApiError {
  const challenge = tokenSent ? `Bearer error="invalid_token", error_description="${message}"` : 'Bearer';
  return new ApiError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': challenge } });
}

/** 403: the token or the builder's connection does not have the scope. */
export function insufficientScope(scope: string, message = `This operation needs the scope ${scope}.`): ApiError {
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
  return new ApiError('INSUFFICIENT_SCOPE', message, { headers: { 'WWW-Authenticate': challenge } });
}

export const forbidden = (message: string) => new ApiError('FORBIDDEN', message);

export const notFound = (what: string) => new ApiError('NOT_FOUND', `${what} not found.`);

export const methodNotAllowed = (allow: string[]) =>
  new ApiError('METHOD_NOT_ALLOWED', `This path allows ${allow.join(', ')}.`, { headers: { Allow: allow.join(', ') } });

export const conflict = (code: string, message: string, rule?: string) => new ApiError(code, message, { rule });

/** 410: the events after a cursor are no longer kept. EVT-11, EVT-12. */
export const cursorExpired = () =>
  new ApiError('CURSOR_EXPIRED', 'The events after this cursor are no longer kept. Copy the lists again.');

/** 422: the key has created a record for another request. HDR-20. */
export const idempotencyKeyReused = () =>
  new ApiError('IDEMPOTENCY_KEY_REUSED', 'The Idempotency-Key was used for another request. Choose a new one.');

/** 410: the record that the key has created is deleted. HDR-20. */
export const idempotentRecordGone = () =>
  new ApiError('IDEMPOTENT_RECORD_GONE', 'The record that this Idempotency-Key created has been deleted.');

export const payloadTooLarge = (limit: number) =>
  new ApiError('PAYLOAD_TOO_LARGE', `The body may have at most ${limit} bytes.`);

export const unsupportedMediaType = (accepted: string) =>
  new ApiError('UNSUPPORTED_MEDIA_TYPE', `The body must be ${accepted}.`);

/** 415: a body with a Content-Encoding. RFC 9110 section 12.5.3. */
export const unsupportedEncoding = () =>
  new ApiError('UNSUPPORTED_MEDIA_TYPE', 'The body must have no Content-Encoding.', {
    headers: { 'Accept-Encoding': 'identity' },
  });

export const rateLimited = (retryAfterSeconds: number) =>
  new ApiError('RATE_LIMITED', 'Too many requests.', { headers: { 'Retry-After': String(retryAfterSeconds) } });

/** 429: the integrator's unused uploads and snapshots have reached its quota. @param limit bytes. */
export const uploadQuotaExceeded = (limit: number) =>
  new ApiError(
    'UPLOAD_QUOTA',
    `Uploads that no photo uses and snapshots may take at most ${limit} bytes. Use the uploads in photos, delete snapshots, or wait until they expire.`,
    { headers: { 'Retry-After': '60' } },
  );

export const internalError = (cause: unknown) =>
  new ApiError('INTERNAL', 'Something went wrong on our side.', { cause });

export const unavailable = (cause: unknown) =>
  new ApiError('UNAVAILABLE', 'The service cannot answer now; try again.', { cause, headers: { 'Retry-After': '1' } });
