import { createHmac } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RegionId } from '../../shared/regions.ts';
import { newSecret } from '../../shared/secrets.ts';

/*
 * A cookie holds one random browser id per region. Signing in issues a new id, whose digest is the key of the session.
 * Before that the id only binds the CSRF token of the forms to the browser. OAU-25, OAU-26.
 */

const BROWSER_ID = /^[A-Za-z0-9_-]{43}$/;

/** The `__Host-` prefix keeps other hosts from setting the cookie; browsers accept it over HTTPS only. RFC 6265bis. */
const cookieName = (region: RegionId, secure: boolean) => `${secure ? '__Host-' : ''}session-${region}`;

/** Returns the browser id of the region's cookie; null without a valid one. */
export function readBrowserId(request: FastifyRequest, region: RegionId, secure: boolean): string | null {
  const name = `${cookieName(region, secure)}=`;
  const pairs = (request.headers.cookie ?? '').split(/; */);
  const value = pairs.find((pair) => pair.startsWith(name))?.slice(name.length);
  return value !== undefined && BROWSER_ID.test(value) ? value : null;
}

/** Sets a new browser id in a session cookie, which the browser deletes when it closes, and returns the id. */
export function issueBrowserId(reply: FastifyReply, region: RegionId, secure: boolean): string {
  const id = newSecret();
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  reply.header('Set-Cookie', `${cookieName(region, secure)}=${id}; ${attributes}`);
  return id;
}

/** Derives the CSRF token of the browser's forms, from which the browser id cannot be computed. */
export const deriveCsrfToken = (browserId: string) =>
  createHmac('sha256', browserId).update('csrf').digest('base64url');
