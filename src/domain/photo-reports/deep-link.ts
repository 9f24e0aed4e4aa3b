import { fitsIn, LIMITS, rangeText } from './limits.ts';

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** What RFC 3986 lets stand in an address as it is, percent-encoding aside. */
const CHARACTERS = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]*$/;
/** Never an application's own: browsers run or read them. */
const BROWSERS = new Set(['javascript', 'data', 'vbscript', 'blob', 'file', 'about', 'http']);

/** Scheme of a link, in lower case and without the colon; empty when there is none. */
export const schemeOf = (link: string) => SCHEME.exec(link)?.[1]?.toLowerCase() ?? '';

/**
 * What is wrong with a deep link whatever its scheme; null when nothing is. Which schemes an integrator may use beside
 * `https` is the operator's to say (PRP-21).
 */
export function deepLinkProblem(link: string): string | null {
  if (!fitsIn(link, LIMITS.sourceDeepLink)) return `must have ${rangeText(LIMITS.sourceDeepLink)}`;
  if (schemeOf(link) === '') return 'must be a link that begins with https:// or a permitted scheme';
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

/** Whether the scheme is one that the integrator may use. */
export function isPermittedScheme(scheme: string, permitted: readonly string[]): boolean {
  if (scheme === 'https') return true;
  return !BROWSERS.has(scheme) && permitted.some((other) => other.toLowerCase() === scheme);
}
