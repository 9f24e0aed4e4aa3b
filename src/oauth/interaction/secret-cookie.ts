import type { FastifyRequest } from 'fastify';
import type { RegionId } from '../../shared/regions.ts';

/** A secret of `newSecret`. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/**
 * Returns the name of a region's cookie. The `__Host-` prefix keeps other hosts from setting it; browsers accept it over HTTPS only.
 * RFC 6265bis.
 */
export const toCookieName = (name: string, region: RegionId, isSecure: boolean): string =>
  `${isSecure ? '__Host-' : ''}${name}-${region}`;

/** Returns the secret in the cookie; null without a valid one. */
export function readSecretCookie(request: FastifyRequest, cookieName: string): string | null {
  const pairs = (request.headers.cookie ?? '').split(/; */);
  const pair = pairs.find((each) => each.startsWith(`${cookieName}=`));
  const secret = pair?.slice(cookieName.length + 1);
  return secret !== undefined && SECRET.test(secret) ? secret : null;
}
