import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { formatFieldPath } from '../../schema/input.ts';
import { isCleanText } from '../../schema/scalars.ts';
import type { RequestUsage } from '../auth/request-usage.ts';
import { invalidField } from '../shared/errors.ts';
import { findEndOfString } from '../shared/parse-json.ts';

/** Maximum nesting of objects and arrays in a body. LIM-10, PRP-33. */
const MAX_DEPTH = 64;

/** Maximum values and field names of a body that is parsed on the event loop, in about 20 ms with its checks. */
export const MAX_TOKENS = 50_000;

/** Number of tokens above which a share has one body parsed at a time. */
export const MANY_TOKENS = 2_000;

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Adds the parser of JSON bodies, which checks encoding and depth first. An empty body is none. HDR-3, ERR-5. */
export function installJsonParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, ({ usage }, body, done) => {
    try {
      if (body.length === 0) return done(null, undefined);
      const text = decodeJson(body as Buffer);
      const tokens = countTokens(text);
      requireTokens(tokens, MAX_TOKENS);
      if (!usage || tokens <= MANY_TOKENS) return done(null, parseJsonText(text));
      parseInShare(usage, text).then((value) => done(null, value), done);
    } catch (error) {
      done(error as Error);
    }
  });
}

/** Calls `parseJsonText` once the share of the request has a permit to occupy the event loop. */
export async function parseInShare(usage: RequestUsage, text: string): Promise<unknown> {
  const end = await usage.occupyEventLoop();
  try {
    return parseJsonText(text);
  } finally {
    end();
  }
}

/**
 * Parses the text of a body. Throws 400 on the field `body`, or on the field whose text is invalid.
 *
 * @param maxTokens Maximum values and field names, counted before they are parsed.
 */
export function parseJson(text: string, maxTokens: number): unknown {
  requireTokens(countTokens(text), maxTokens);
  return parseJsonText(text);
}

/** Decodes UTF-8, without a byte order mark. Throws 400. */
export function decodeJson(body: Uint8Array): string {
  if (!isUtf8(body)) throw invalidField('body', 'must be UTF-8');
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  return bytes.toString('utf8', bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0);
}

/** Throws 400 where a body has more tokens than the limit. */
function requireTokens(tokens: number, maxTokens: number): void {
  if (tokens <= maxTokens) return;
  throw invalidField('body', `must have at most ${maxTokens} values and field names in all; it has ${tokens}`);
}

/**
 * Matches each JSON text that `requireCleanText` rejects: valid UTF-8 has surrogates and U+0000 as escapes only. Visiting each value of a body
 * of 10 KB takes 24 µs.
 */
const MAY_BE_UNCLEAN = /\\u|__proto__/;

/** Parses text whose tokens were counted. Throws 400. */
export function parseJsonText(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidField('body', 'must be valid JSON');
  }
  if (MAY_BE_UNCLEAN.test(text)) requireCleanText(value);
  return value;
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPENING_BRACKET = 91;
const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/**
 * Counts the values and field names of a JSON text without parsing it; an empty list or object counts as two. Throws 400 where it
 * nests deeper than `MAX_DEPTH`, because `JSON.parse` would recurse as deep.
 */
export function countTokens(text: string): number {
  let depth = 0;
  let tokens = 1;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = findEndOfString(text, index);
        break;
      case COMMA:
      case COLON:
        tokens++;
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        tokens++;
        if (++depth > MAX_DEPTH) throw invalidField('body', `must not nest deeper than ${MAX_DEPTH} levels`);
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth--;
    }
  }
  return tokens;
}

/** Throws 400 for U+0000 and lone surrogates, which PostgreSQL cannot store, and for a field named `__proto__`. */
function requireCleanText(value: unknown): void {
  const found = findUnclean(value);
  if (!found) return;
  const [first, ...rest] = found.path;
  throw invalidField(
    first === undefined ? 'body' : formatFieldPath(typeof first === 'number' ? `[${first}]` : first, rest),
    found.message,
  );
}

interface Unclean {
  path: (string | number)[];
  message: string;
}

/** Returns the first unclean text, or null. The path is built only where there is one. */
function findUnclean(value: unknown): Unclean | null {
  if (typeof value === 'string') {
    return isCleanText(value) ? null : { path: [], message: 'must not contain U+0000 or unpaired surrogates' };
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = findUnclean(value[index]);
      if (found) return withPathKey(index, found);
    }
  } else if (value !== null && typeof value === 'object') {
    for (const name of Object.keys(value)) {
      if (name === '__proto__' || !isCleanText(name)) return { path: [], message: 'has a field with a forbidden name' };
      const found = findUnclean((value as Record<string, unknown>)[name]);
      if (found) return withPathKey(name, found);
    }
  }
  return null;
}

function withPathKey(key: string | number, found: Unclean): Unclean {
  found.path.unshift(key);
  return found;
}
