import type { ApiError } from '../shared/errors.ts';

/** Error codes of RFC 6749 sections 4.1.2.1 and 5.2, and of RFC 8707 section 2. OAU-38. */
type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'invalid_target'
  | 'temporarily_unavailable'
  | 'server_error';

/**
 * An error of the OAuth endpoints, sent as `{ error, error_description }`, or in the query of a redirect from the
 * authorization endpoint. RFC 6749 sections 5.2 and 4.1.2.1.
 */
export class OAuthError extends Error {
  override name = 'OAuthError';

  constructor(
    readonly status: number,
    readonly code: OAuthErrorCode,
    description: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(toErrorDescription(description));
  }

  body(): { error: OAuthErrorCode; error_description: string } {
    return { error: this.code, error_description: this.message };
  }
}

const createFactory = (status: number, code: OAuthErrorCode) => (description: string) =>
  new OAuthError(status, code, description);

/** Missing, repeated or malformed parameters. */
export const invalidRequest = createFactory(400, 'invalid_request');
/** A code or refresh token that is invalid, expired, consumed or issued to another client. */
export const invalidGrant = createFactory(400, 'invalid_grant');
export const invalidScope = createFactory(400, 'invalid_scope');
/** The authenticated client may not use this grant. */
export const unauthorizedClient = createFactory(400, 'unauthorized_client');
/** A `resource` that is none, or not that of the code or refresh token. */
export const invalidTarget = createFactory(400, 'invalid_target');
export const unsupportedGrantType = createFactory(400, 'unsupported_grant_type');
export const unsupportedResponseType = createFactory(400, 'unsupported_response_type');
/** The user denied access or has no builder that can allow it. */
export const accessDenied = createFactory(403, 'access_denied');

/** 401, with a `WWW-Authenticate` challenge for a client that sent the `Authorization` header. */
export function invalidClient(description: string, viaHeader: boolean) {
  const challenge = 'Basic realm="oauth", charset="UTF-8"';
  return new OAuthError(401, 'invalid_client', description, viaHeader ? { 'WWW-Authenticate': challenge } : {});
}

/** One error for every unusable code or refresh token, so that it does not reveal which ones exist. */
export const expiredOrRevokedGrant = () => invalidGrant('The code or refresh token is invalid, expired or revoked.');

/** An internal error during an authorization request. */
export const serverError = () => new OAuthError(500, 'server_error', 'The service cannot answer now; try again.');

/** OAuth error codes for HTTP-level errors, by status. */
const TRANSPORT_CODES: Partial<Record<number, OAuthErrorCode>> = {
  405: 'invalid_request',
  413: 'invalid_request',
  415: 'invalid_request',
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/**
 * Returns the JSON body of an HTTP-level error at the token, revocation or introspection endpoint: the OAuth error members,
 * and the `code` and `message` of every other operation. Null for a status without an OAuth code.
 */
export function toTransportErrorBody({ status, code, message }: ApiError): object | null {
  const error = TRANSPORT_CODES[status];
  return error === undefined ? null : { error, error_description: toErrorDescription(message), code, message };
}

/** Replaces the characters that RFC 6749 appendix A.8 forbids: all but ASCII without quotes and backslashes. */
const toErrorDescription = (description: string) => description.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/gu, '?');
