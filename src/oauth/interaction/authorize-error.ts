import type { FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError, serverError } from '../errors.ts';
import type { ReturnAddress } from './authorization-request.ts';
import { PageError } from './page-error.ts';

/**
 * Sends the browser back to the application, with `state` and, against mix-up, `iss`. RFC 6749 sections 4.1.2 and 4.1.2.1,
 * RFC 9207. After a form 303, which makes a GET of it whatever it was (RFC 9700 section 4.12).
 */
export function sendBack(
  reply: FastifyReply,
  { redirectUri, state }: ReturnAddress,
  issuer: string,
  answer: { code: string } | { error: string; error_description: string },
): FastifyReply {
  const parameters = new URLSearchParams({ ...answer, ...(state !== null && { state }), iss: issuer });
  // Appended as text: the registered address is kept to the letter.
  const separator = redirectUri.includes('?') ? '&' : '?';
  const status = reply.request.method === 'POST' ? 303 : 302;
  return reply.redirect(`${redirectUri}${separator}${parameters}`, status);
}

/** Page or redirect: what concerns the application goes back to it; what concerns the page alone is thrown on. */
export function sendErrorBack(
  request: FastifyRequest,
  reply: FastifyReply,
  back: ReturnAddress,
  issuer: string,
  thrown: unknown,
): FastifyReply {
  if (thrown instanceof PageError) throw thrown;
  if (!(thrown instanceof OAuthError)) request.log.error({ err: thrown }, 'authorization failed');
  const { error, error_description } = (thrown instanceof OAuthError ? thrown : serverError()).body();
  return sendBack(reply, back, issuer, { error, error_description });
}
