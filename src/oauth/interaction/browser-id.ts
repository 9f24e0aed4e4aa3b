import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RegionId } from '../../shared/regions.ts';
import { newSecret } from '../../shared/secrets.ts';
import { pageExpired } from './page-error.ts';
import { readSecretCookie, toCookieName } from './secret-cookie.ts';

/*
 * A cookie holds one random browser id per region. Signing in issues a new id, whose digest is the key of the session.
 * Before that the id only binds the CSRF token of the forms to the browser. OAU-25, OAU-26.
 */

/** Returns the browser id of the region's cookie; null without a valid one. */
export const readBrowserId = (request: FastifyRequest, region: RegionId, isSecure: boolean): string | null =>
  readSecretCookie(request, toCookieName('session', region, isSecure));

/** Sets a new browser id in a session cookie, which the browser deletes when it closes, and returns the id. */
export function issueBrowserId(reply: FastifyReply, region: RegionId, isSecure: boolean): string {
  const id = newSecret();
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  reply.header('Set-Cookie', `${toCookieName('session', region, isSecure)}=${id}; ${attributes}`);
  return id;
}

/** Derives the CSRF token of the browser's forms, from which the browser id cannot be computed. */
export const deriveCsrfToken = (browserId: string) =>
  createHmac('sha256', browserId).update('csrf').digest('base64url');

/** Throws a 403 page unless the form carries the CSRF token of this browser. RFC 6749 section 10.12, OAU-26. */
export function requireCsrfToken(sent: string | undefined, browserId: string | null): void {
  if (browserId === null || sent === undefined) throw pageExpired();
  const [actual, expected] = [sent, deriveCsrfToken(browserId)].map((text) => Buffer.from(text)) as [Buffer, Buffer];
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) throw pageExpired();
}
