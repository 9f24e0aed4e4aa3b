import { fail, STANDARDS, scalar } from '../../../schema/scalar.ts';
import { hasLength } from '../../../schema/text.ts';

interface LinkRule {
  maxLength: number;
  /** Regular expression in the OpenAPI document. */
  pattern: string;
  isAllowed: (scheme: string) => boolean;
}

function createLink(name: string, description: string, { maxLength, pattern, isAllowed }: LinkRule) {
  const examples = ['https://site-notes.example/notes/20260302-0730'];
  return scalar<string>({
    name,
    description,
    jsonSchema: { type: 'string', format: 'uri', pattern, minLength: 1, maxLength, examples },
    specifiedBy: STANDARDS.uri,
    parse: (value) => {
      if (typeof value !== 'string') return fail('must be a string');
      if (!hasLength(value, 0, maxLength)) return fail(`must have 1 to ${maxLength} characters`);
      const url = /^[\x21-\x7e]+$/.test(value) ? URL.parse(value) : null;
      if (!url || !isAllowed(url.protocol.slice(0, -1))) return fail(description);
      // The parser also accepts `https:host` and `https:\\host`.
      if (url.protocol === 'https:' && !/^https:\/\/[^/\\]/i.test(value)) return fail(description);
      const hasCredentials = url.username || url.password || /^[^/]*:\/\/[^/?#]*@/.test(value);
      return hasCredentials ? fail('must not hold credentials') : value;
    },
  });
}

/** Schemes that a browser executes or that open local resources. */
const UNSAFE_SCHEMES =
  /^(about|blob|chrome|data|file|filesystem|ftp|http|intent|javascript|vbscript|view-source|ws|wss)$/;

export const NoteDeepLink = createLink(
  'NoteDeepLink',
  "must be an https: address, or one of the application's own scheme, of at most 1000 characters",
  { maxLength: 1_000, pattern: '^[A-Za-z][A-Za-z0-9+.-]*:', isAllowed: (scheme) => !UNSAFE_SCHEMES.test(scheme) },
);

export const NoteWebLink = createLink('NoteWebLink', 'must be an https: address of at most 2000 characters', {
  maxLength: 2_000,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]://',
  isAllowed: (scheme) => scheme === 'https',
});
