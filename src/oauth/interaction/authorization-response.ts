import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../shared/errors.ts';
import { OAuthError, serverError } from '../errors.ts';
import type { RedirectTarget } from './authorization-request.ts';
import { PageError } from './page-error.ts';

/**
 * Redirects to the client with `state` and, against mix-up attacks, `iss`. RFC 6749 sections 4.1.2 and 4.1.2.1, RFC 9207.
 * Uses 303 after a form, so that the browser sends a GET without the form. RFC 9700 section 4.12.
 */
export function sendAuthorizationResponse(
  reply: FastifyReply,
  { redirectUri, state }: Pick<RedirectTarget, 'redirectUri' | 'state'>,
  issuer: string,
  response: { code: string } | { error: string; error_description: string },
): FastifyReply {
  const parameters = new URLSearchParams({ ...response, ...(state !== null && { state }), iss: issuer });
  // Appended as text, because parsing could change the registered URI.
  const separator = redirectUri.includes('?') ? '&' : '?';
  const status = reply.request.method === 'POST' ? 303 : 302;
  return reply.redirect(`${redirectUri}${separator}${parameters}`, status);
}

/** Redirects to the client with the error; rethrows a page error and a 429, which are for the user. */
export function sendAuthorizationError(
  request: FastifyRequest,
  reply: FastifyReply,
  target: RedirectTarget,
  issuer: string,
  thrown: unknown,
): FastifyReply {
  if (thrown instanceof PageError || (thrown instanceof ApiError && thrown.status === 429)) throw thrown;
  if (!(thrown instanceof OAuthError)) request.log.error({ err: thrown }, 'authorization failed');
  const { error, error_description } = (thrown instanceof OAuthError ? thrown : serverError()).body();
  return sendAuthorizationResponse(reply, target, issuer, { error, error_description });
}
