import { formatRange, hasLengthWithin, LIMITS } from './limits.ts';

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** Unreserved and reserved characters of RFC 3986, and `%`. */
const CHARACTERS = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]*$/;
/** Schemes that browsers execute or open; never permitted. */
const FORBIDDEN_SCHEMES = new Set(['javascript', 'data', 'vbscript', 'blob', 'file', 'about', 'http']);

/** Returns the scheme of a link in lower case, without the colon; empty if there is none. */
export const parseScheme = (link: string) => SCHEME.exec(link)?.[1]?.toLowerCase() ?? '';

/**
 * Returns why a deep link is invalid, or null. Does not check whether the scheme is permitted: the operator configures that for
 * each integrator (PRP-21).
 */
export function findDeepLinkError(link: string): string | null {
  if (!hasLengthWithin(link, LIMITS.sourceDeepLink)) return `must have ${formatRange(LIMITS.sourceDeepLink)}`;
  const scheme = parseScheme(link);
  if (scheme === '' || FORBIDDEN_SCHEMES.has(scheme))
    return 'must be a link that begins with https:// or a permitted scheme';
  if (link.includes('?')) return 'must not have a query string';
  if (link.includes('#')) return 'must not have a fragment';
  if (!CHARACTERS.test(link)) return 'must not have characters that an address cannot hold';
  const url = URL.parse(link);
  if (!url) return 'must be a link';
  const isWeb = url.protocol === 'https:';
  if (isWeb && !/^https:\/\/[^/]/i.test(link)) return 'must be a link that begins with https:// and a host';
  if (url.username !== '' || url.password !== '' || /^[^/]*:\/\/[^/]*@/.test(link)) return 'must not hold credentials';
  return null;
}

/** Whether an integrator with these permitted schemes may use the scheme; `https` always. */
export const isPermittedScheme = (scheme: string, permitted: readonly string[]): boolean =>
  scheme === 'https' || permitted.some((other) => other.toLowerCase() === scheme);
