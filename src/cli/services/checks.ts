import { INTERNAL_SCOPES, SCOPES } from '../../../schema/scopes.ts';
import { isLoopback } from '../../config.ts';
import { ID_PREFIXES, type IdKind, isId } from '../../shared/ids.ts';
import { refuse } from '../cli-error.ts';

const KNOWN_SCOPES: readonly string[] = [...SCOPES, ...INTERNAL_SCOPES];

const MAX_URI = 2000;

/** Schemes that mean something to a browser or the system, so that no application can own them. */
const RESERVED_SCHEMES = [
  ...['about', 'blob', 'chrome', 'data', 'file', 'filesystem', 'ftp', 'http', 'intent', 'javascript', 'mailto', 'sms'],
  ...['tel', 'vbscript', 'view-source', 'ws', 'wss'],
];

/** Text that people read: trimmed, on one line, not empty. */
export function oneLine(option: string, text: string, longest = 160): string {
  const trimmed = text.trim();
  if (trimmed === '') refuse(option, 'must not be empty');
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(trimmed)) refuse(option, 'must be one line of text');
  if ([...trimmed].length > longest) refuse(option, `must have at most ${longest} characters`);
  return trimmed;
}

/** An identifier of that kind, by its shape. */
export function identifier(option: string, kind: IdKind, text: string): string {
  return isId(kind, text) ? text : refuse(option, `"${text}" is not an id such as ${ID_PREFIXES[kind]}_a1b2c3`);
}

/** Each scope once, in the order of `SCOPES`; each text may hold several with spaces between. */
export function scopes(texts: readonly string[]): string[] {
  const asked = texts.flatMap((text) => text.split(/\s+/)).filter((scope) => scope !== '');
  const unknown = asked.filter((scope) => !KNOWN_SCOPES.includes(scope));
  if (unknown.length > 0) {
    const names = unknown.map((scope) => `"${scope}"`).join(', ');
    refuse(
      '--scope',
      `${names} ${unknown.length > 1 ? 'are no scopes' : 'is no scope'}; there are ${KNOWN_SCOPES.join(' ')}`,
    );
  }
  if (asked.length === 0) refuse('--scope', 'at least one is needed');
  return KNOWN_SCOPES.filter((scope) => asked.includes(scope));
}

/** An address that a code may be sent to. It is compared exactly, so it is kept as written. RFC 8252, section 7. */
export function redirectUri(text: string): string {
  const wrong = (problem: string): never => refuse('--redirect-uri', `"${text}" ${problem}`);
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('\\') || !URL.canParse(text)) return wrong('is not a URI');
  if (text.length > MAX_URI) return wrong(`is longer than ${MAX_URI} characters`);
  if (text.includes('#')) return wrong('has a fragment');
  if (text.includes('*')) return wrong('has a wildcard, and it is compared exactly');
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) return wrong('holds credentials');
  const secure = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)) || isPrivateScheme(protocol);
  if (!secure) return wrong('must be https, http on loopback, or a private scheme such as com.example.app:/callback');
  if (/^https?:/.test(protocol) && !/^https?:\/\/[^/]/i.test(text)) return wrong('is not a URI');
  return text;
}

/** Named after a domain in reverse, as RFC 8252 section 7.1 wants it. */
const isPrivateScheme = (protocol: string) => /^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+:$/.test(protocol);

/** A browser's origin, as it stands in an `Origin` header. */
export function browserOrigin(text: string): string {
  const wrong = (problem: string): never => refuse('--origin', `"${text}" ${problem}`);
  if (!URL.canParse(text)) return wrong('is not an origin such as https://app.example.com');
  const { origin, protocol, hostname } = new URL(text);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) {
    return wrong('must be https, or http on loopback');
  }
  if (text.includes('*')) return wrong('has a wildcard, and it is compared exactly');
  return origin === text ? text : wrong(`is not an origin; a browser would send ${origin}`);
}

/** A scheme of an application's own, without the colon, for `sourceDeepLink` (PRP-21). */
export function deepLinkScheme(text: string): string {
  const wrong = (problem: string): never => refuse('--deep-link-scheme', `"${text}" ${problem}`);
  const scheme = text.toLowerCase();
  if (!/^[a-z][a-z0-9+.-]{0,62}$/.test(scheme)) return wrong('is not a scheme such as siteapp, without the colon');
  if (scheme === 'https') return wrong('is always allowed');
  return RESERVED_SCHEMES.includes(scheme) ? wrong('belongs to no application') : scheme;
}

/** An e-mail address, in lower case, as users are kept. */
export function emailAddress(text: string): string {
  const email = text.trim().toLowerCase();
  const holds = email.length <= 320 && /^[^\s@"(),:;<>[\\\]\p{Cc}]+@[^\s@.]+(\.[^\s@.]+)+$/u.test(email);
  return holds ? email : refuse('--email', `"${text}" is not an e-mail address`);
}
