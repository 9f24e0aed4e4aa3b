import type { ApiError } from '../shared/errors.ts';

/** Codes of RFC 6749 sections 4.1.2.1 and 5.2. OAU-38. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'temporarily_unavailable'
  | 'server_error';

/**
 * An error of the OAuth endpoints, sent as `{ error, error_description }`, or in the query of a redirect from the
 * authorization endpoint. RFC 6749 sections 5.2 and 4.1.2.1.
 */
export class OAuthError extends Error {
  readonly status: number;
  readonly code: OAuthErrorCode;
  readonly headers: Record<string, string>;

  constructor(status: number, code: OAuthErrorCode, description: string, headers: Record<string, string> = {}) {
    super(printable(description));
    this.name = 'OAuthError';
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  body(): { error: OAuthErrorCode; error_description: string } {
    return { error: this.code, error_description: this.message };
  }
}

/** Missing, repeated or malformed parameters. */
export const invalidRequest = (description: string, status = 400) =>
  new OAuthError(status, 'invalid_request', description);

/** 401. The challenge answers a client that used, or tried to use, the `Authorization` header. */
export const invalidClient = (description: string, viaHeader: boolean) =>
  new OAuthError(
    401,
    'invalid_client',
    description,
    viaHeader ? { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' } : {},
  );

/** A code or refresh token that is invalid, expired, used or another client's. */
export const invalidGrant = (description: string) => new OAuthError(400, 'invalid_grant', description);

/** The same whether it never was, was another client's, or is over: who presents it learns nothing more. */
export const staleGrant = () => invalidGrant('The code or refresh token is invalid, expired or revoked.');

export const invalidScope = (description: string) => new OAuthError(400, 'invalid_scope', description);

/** The client is who it says, and may not use this grant. */
export const unauthorizedClient = (description: string) => new OAuthError(400, 'unauthorized_client', description);

export const unsupportedGrantType = (description: string) => new OAuthError(400, 'unsupported_grant_type', description);

/** The authorization endpoint gives codes alone. */
export const unsupportedResponseType = (description: string) =>
  new OAuthError(400, 'unsupported_response_type', description);

/** The user, or what the user may choose, does not allow it. */
export const accessDenied = (description: string) => new OAuthError(403, 'access_denied', description);

/** Something went wrong on our side while the browser was here. */
export const serverError = () => new OAuthError(500, 'server_error', 'The service cannot answer now; try again.');

/** OAuth's codes for errors of the transport, by status. */
const TRANSPORT_CODES: Partial<Record<number, OAuthErrorCode>> = {
  405: 'invalid_request',
  413: 'invalid_request',
  415: 'invalid_request',
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/**
 * The body of an error of the transport on an endpoint that answers in JSON: what OAuth clients read, with the `code` and `message` that
 * every other operation has. Null for an error of another status.
 */
export function transportErrorBody({ status, code, message }: ApiError): object | null {
  const error = TRANSPORT_CODES[status];
  return error === undefined ? null : { error, error_description: printable(message), code, message };
}

/** What an `error_description` may hold: ASCII without quotes and backslashes. RFC 6749 appendix A.8. */
const printable = (description: string) => description.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/gu, '?');
