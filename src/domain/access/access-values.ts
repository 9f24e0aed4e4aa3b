import { ID_PREFIXES, type IdKind, isId } from '../../../schema/ids.ts';
import { INTERNAL_SCOPES, SCOPES } from '../../../schema/scopes.ts';
import { isLoopback } from '../../config.ts';
import { toComparableText } from '../../shared/comparable-text.ts';
import { InvalidInputError } from './invalid-input-error.ts';

const KNOWN_SCOPES: readonly string[] = [...SCOPES, ...INTERNAL_SCOPES];

const MAX_URI = 2000;

/** Schemes with a meaning in browsers or operating systems, which an application cannot register. */
const RESERVED_SCHEME =
  /^(about|blob|chrome|data|file|filesystem|ftp|http|intent|javascript|mailto|sms|tel|vbscript|view-source|ws|wss)$/;

/** Returns the trimmed text. Throws `InvalidInputError` if it is empty, too long or not on one line. */
export function requireSingleLine(field: string, text: string, longest = 160): string {
  const trimmed = text.trim();
  if (trimmed === '') throw new InvalidInputError(field, 'must not be empty');
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(trimmed)) throw new InvalidInputError(field, 'must be one line of text');
  if ([...trimmed].length > longest) throw new InvalidInputError(field, `must have at most ${longest} characters`);
  return trimmed;
}

/** Returns the text if it has the format of an id of that kind. */
export function parseId(field: string, kind: IdKind, text: string): string {
  if (!isId(kind, text))
    throw new InvalidInputError(field, `"${text}" is not an id such as ${ID_PREFIXES[kind]}_a1b2c3`);
  return text;
}

/** Parses texts of space-separated scopes. Returns each scope once, in the documented order. */
export function parseScopes(texts: readonly string[]): string[] {
  const requested = texts.flatMap((text) => text.split(/\s+/)).filter((scope) => scope !== '');
  const unknown = requested.filter((scope) => !KNOWN_SCOPES.includes(scope));
  if (unknown.length > 0) {
    const names = unknown.map((scope) => `"${scope}"`).join(', ');
    throw new InvalidInputError(
      'scopes',
      `${names} ${unknown.length > 1 ? 'are not scopes' : 'is not a scope'}; use ${KNOWN_SCOPES.join(' ')}`,
    );
  }
  if (requested.length === 0) throw new InvalidInputError('scopes', 'at least one is required');
  return KNOWN_SCOPES.filter((scope) => requested.includes(scope));
}

/** Returns the redirect URI unchanged, because it is compared exactly. RFC 8252, section 7. */
export function parseRedirectUri(text: string): string {
  const invalid = (problem: string) => new InvalidInputError('redirectUris', `"${text}" ${problem}`);
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('\\') || !URL.canParse(text)) throw invalid('is not a URI');
  if (text.length > MAX_URI) throw invalid(`is longer than ${MAX_URI} characters`);
  if (text.includes('#')) throw invalid('has a fragment');
  if (text.includes('*')) throw invalid('has a wildcard, and it is compared exactly');
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) throw invalid('contains credentials');
  const secure = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)) || isPrivateScheme(protocol);
  if (!secure) throw invalid('must be https, http on loopback, or a private scheme such as com.example.app:/callback');
  if (/^https?:/.test(protocol) && !/^https?:\/\/[^/]/i.test(text)) throw invalid('is not a URI');
  return text;
}

/** Private-use schemes are reversed domain names (RFC 8252 section 7.1). */
const isPrivateScheme = (protocol: string) => /^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+:$/.test(protocol);

/** Returns the origin if it is spelled as in an `Origin` header. */
export function parseOrigin(text: string): string {
  const invalid = (problem: string) => new InvalidInputError('origins', `"${text}" ${problem}`);
  if (!URL.canParse(text)) throw invalid('is not an origin such as https://app.example.com');
  const { origin, protocol, hostname } = new URL(text);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) {
    throw invalid('must be https, or http on loopback');
  }
  if (text.includes('*')) throw invalid('has a wildcard, and it is compared exactly');
  if (origin !== text) throw invalid(`is not an origin; a browser would send ${origin}`);
  return text;
}

/** Returns an application's own scheme for `sourceDeepLink`, in lower case and without the colon. */
export function parseDeepLinkScheme(text: string): string {
  const invalid = (problem: string) => new InvalidInputError('deepLinkSchemes', `"${text}" ${problem}`);
  const scheme = text.toLowerCase();
  if (!/^[a-z][a-z0-9+.-]{0,62}$/.test(scheme)) throw invalid('is not a scheme such as siteapp, without the colon');
  if (scheme === 'https') throw invalid('is always allowed');
  if (RESERVED_SCHEME.test(scheme)) throw invalid('is reserved');
  return scheme;
}

/** Returns an e-mail address as it is stored. */
export const toStoredEmail = (text: string): string => text.trim().normalize('NFC').toLowerCase();

/** Returns the e-mail address as it is stored; throws for one that is none. */
export function parseEmailAddress(text: string): string {
  const email = toStoredEmail(text);
  const holds = email.length <= 320 && /^[^\s@"(),:;<>[\\\]\p{Cc}]+@[^\s@.]+(\.[^\s@.]+)+$/u.test(email);
  if (!holds) throw new InvalidInputError('email', `"${text}" is not an e-mail address`);
  return email;
}

/** A reserved domain (RFC 2606), which receives no mail: that of erased users, whose address is their id there. */
export const NO_DOMAIN = '@erased.invalid';

/** Whether the address is compared like one of an erased user: two that are compared as equal cannot be stored. */
export const isOfErased = (email: string): boolean => toComparableText(email).endsWith(NO_DOMAIN);

/** Returns the e-mail address of a user as it is stored; throws for one that is none, and for that of an erased user. */
export function parseUserEmail(text: string): string {
  const email = parseEmailAddress(text);
  if (isOfErased(email)) throw new InvalidInputError('email', `"${text}" is an address of an erased user`);
  return email;
}
