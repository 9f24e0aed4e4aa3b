import { createHmac } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RegionId } from '../../shared/regions.ts';
import { newSecret } from '../../shared/secrets.ts';

/*
 * A browser carries one random identifier for each region in a cookie. Signing in gives it a new one, whose digest names the
 * session; before that it only ties the forms to the browser. OAU-25, OAU-26.
 */

const IDENTIFIER = /^[A-Za-z0-9_-]{43}$/;

/** With the `__Host-` prefix no neighbouring host can set it; browsers take that under HTTPS alone. RFC 6265bis. */
const cookieName = (region: RegionId, secure: boolean) => `${secure ? '__Host-' : ''}session-${region}`;

/** The identifier that the browser sends; null when it has none. */
export function readBrowserId(request: FastifyRequest, region: RegionId, secure: boolean): string | null {
  const name = `${cookieName(region, secure)}=`;
  const pairs = (request.headers.cookie ?? '').split(/; */);
  const value = pairs.find((pair) => pair.startsWith(name))?.slice(name.length);
  return value !== undefined && IDENTIFIER.test(value) ? value : null;
}

/** Gives the browser an identifier that nobody has had. It ends with the browser, or with the session. */
export function giveBrowserId(reply: FastifyReply, region: RegionId, secure: boolean): string {
  const id = newSecret();
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  reply.header('Set-Cookie', `${cookieName(region, secure)}=${id}; ${attributes}`);
  return id;
}

/** What every form that the browser is shown carries. Only who knows the cookie can make it, and it does not give it away. */
export const csrfTokenOf = (browserId: string) => createHmac('sha256', browserId).update('csrf').digest('base64url');
