/** An HTTP error response; the error handler of the service sends it. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    readonly body: object,
    readonly headers: Record<string, string> = {},
  ) {
    super(`HTTP ${status}`);
  }
}

export const invalid = (errors: { fieldName: string; message: string }[]) => new HttpError(400, { errors });
export const forbidden = (message: string) => new HttpError(403, { code: 'FORBIDDEN', message });
export const notFound = (resource: string) =>
  new HttpError(404, { code: 'NOT_FOUND', message: `${resource} not found.` });
export const conflict = (code: string, message: string) => new HttpError(409, { code, message });

export function unauthenticated(message: string, isTokenSent = true): HttpError {
  const challenge = isTokenSent ? `Bearer error="invalid_token", error_description="${message}"` : 'Bearer';
  return new HttpError(401, { code: 'UNAUTHENTICATED', message }, { 'WWW-Authenticate': challenge });
}

export function insufficientScope(scope: string, message: string): HttpError {
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
  return new HttpError(403, { code: 'INSUFFICIENT_SCOPE', message }, { 'WWW-Authenticate': challenge });
}

export const oauthError = (status: number, error: string, error_description: string) =>
  new HttpError(status, { error, error_description }, { Pragma: 'no-cache' });
