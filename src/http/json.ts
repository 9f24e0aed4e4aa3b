import type { FastifyInstance } from 'fastify';
import { isCleanText } from '../../schema/scalars.ts';
import { invalidField } from '../errors.ts';

/** Deepest nesting of objects and arrays in a body. Part 9 of the decisions. */
export const MAX_DEPTH = 64;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

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
  let text: string;
  try {
    text = UTF8.decode(body);
  } catch {
    throw invalidField('body', 'must be UTF-8');
  }
  if (nestsTooDeep(text)) throw invalidField('body', `must not nest deeper than ${MAX_DEPTH} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidField('body', 'must be valid JSON');
  }
  requireCleanText(value, '');
  return value;
}

/** Counts open brackets outside strings: JSON.parse of a hostile body would recurse as deep as the body says. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 92) at++;
      else if (code === 34) inString = false;
    } else if (code === 34) inString = true;
    else if (code === 123 || code === 91) {
      if (++depth > MAX_DEPTH) return true;
    } else if (code === 125 || code === 93) depth--;
  }
  return false;
}

/** U+0000 and lone surrogates, which no column can hold, and `__proto__`, which no field is called. */
function requireCleanText(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (!isCleanText(value)) throw invalidField(path || 'body', 'must not contain U+0000 or unpaired surrogates');
  } else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) requireCleanText(value[index], `${path}[${index}]`);
  } else if (value !== null && typeof value === 'object') {
    for (const [name, item] of Object.entries(value)) {
      const field = path ? `${path}.${name}` : name;
      if (name === '__proto__' || !isCleanText(name))
        throw invalidField(path || 'body', 'has a field with a forbidden name');
      requireCleanText(item, field);
    }
  }
}
