import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { fieldPath } from '../../schema/input.ts';
import { isCleanText } from '../../schema/scalars.ts';
import { invalidField } from '../errors.ts';

/** Deepest nesting of objects and arrays in a body. Part 9 of the decisions. */
export const MAX_DEPTH = 64;

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** JSON bodies: UTF-8, bounded in depth before they are parsed; an empty one is no body. Part 3 of the decisions. */
export function installJsonParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** The value of a body; undefined for an empty one. Throws 400 on the field `body`, or on the field whose text is bad. */
export function parseJson(body: Uint8Array): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw invalidField('body', 'must be UTF-8');
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const text = bytes.toString('utf8', bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0);
  if (nestsTooDeep(text)) throw invalidField('body', `must not nest deeper than ${MAX_DEPTH} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidField('body', 'must be valid JSON');
  }
  requireCleanText(value);
  return value;
}

const QUOTE = 34;
const BACKSLASH = 92;

/** Counts open brackets outside strings: JSON.parse of a hostile body would recurse as deep as the body says. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === 123 || code === 91) {
      if (++depth > MAX_DEPTH) return true;
    } else if (code === 125 || code === 93) depth--;
  }
  return false;
}

/** Place of the quote that ends the string which begins there; the end of the text when none does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    // Backslashes in pairs stand for themselves.
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

/** U+0000 and lone surrogates, which no column can hold, and `__proto__`, which no field is called. */
function requireCleanText(value: unknown): void {
  const found = findUnclean(value);
  if (!found) return;
  const [first, ...rest] = found.path;
  throw invalidField(
    first === undefined ? 'body' : fieldPath(typeof first === 'number' ? `[${first}]` : first, rest),
    found.message,
  );
}

interface Unclean {
  path: (string | number)[];
  message: string;
}

/** The path is put together on the way back, and only when there is something to tell. */
function findUnclean(value: unknown): Unclean | null {
  if (typeof value === 'string') {
    return isCleanText(value) ? null : { path: [], message: 'must not contain U+0000 or unpaired surrogates' };
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = findUnclean(value[index]);
      if (found) return under(index, found);
    }
  } else if (value !== null && typeof value === 'object') {
    for (const name of Object.keys(value)) {
      if (name === '__proto__' || !isCleanText(name)) return { path: [], message: 'has a field with a forbidden name' };
      const found = findUnclean((value as Record<string, unknown>)[name]);
      if (found) return under(name, found);
    }
  }
  return null;
}

function under(key: string | number, found: Unclean): Unclean {
  found.path.unshift(key);
  return found;
}
