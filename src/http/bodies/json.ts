import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { formatFieldPath } from '../../../schema/input.ts';
import { findJsonProblems, MAX_JSON_DEPTH, MAY_BE_INEXACT, parseExactJson } from '../../../schema/json-problems.ts';
import type { RequestUsage } from '../../auth/request-usage.ts';
import { findEndOfString } from '../../limits/parse-json.ts';
import { type FieldError, invalidField, unsupportedMediaType, ValidationError } from '../../shared/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Begins the paths of an operation's input in the body: empty, or `variables.`. The route's handler adds the `textErrors` of the context to
     * the errors of the input. A body with invalid text elsewhere, or of another route, is rejected before its handler is called.
     */
    inputPrefix?: string;
  }
}

/** Maximum values and field names of a body that is parsed on the event loop, in about 20 ms with its checks. */
export const MAX_TOKENS = 50_000;

/** Number of tokens above which a share has one body parsed at a time. */
export const MANY_TOKENS = 2_000;

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** A media type of PATCH: its rules, that null clears a field and an absent one stays, are those of the operations. HDR-2. */
const MERGE_PATCH = 'application/merge-patch+json';

export const JSON_TYPES = ['application/json', MERGE_PATCH];

/** Throws 415 for a merge patch that is not sent with PATCH. */
export function requireJsonType({ method, headers }: FastifyRequest): void {
  if (method !== 'PATCH' && headers['content-type']!.toLowerCase().startsWith(MERGE_PATCH)) {
    throw unsupportedMediaType('application/json');
  }
}

/** Adds the parser of JSON bodies, which checks encoding and depth first. An empty body is none. HDR-3, ERR-5. */
export function installJsonParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (request, body, done) => {
    const { usage } = request;
    try {
      requireJsonType(request);
      if (body.length === 0) return done(null, undefined);
      const text = decodeJson(body as Buffer);
      const tokens = estimateTokens(text);
      if (tokens <= MANY_TOKENS) return done(null, parseRequestText(text, request));
      requireTokens(tokens, MAX_TOKENS);
      if (!usage) return done(null, parseRequestText(text, request));
      parseInShare(usage, text, request).then((value) => done(null, value), done);
    } catch (error) {
      done(error as Error);
    }
  });
}

/** Calls `parseRequestText` once the share of the request has a permit to occupy the event loop. */
export async function parseInShare(usage: RequestUsage, text: string, request: FastifyRequest): Promise<unknown> {
  const end = await usage.acquireParsingPermit();
  try {
    return parseRequestText(text, request);
  } finally {
    end();
  }
}

/** Parses the text of a request's body, whose tokens were counted. Throws 400, or defers the errors of its text. */
export const parseRequestText = (text: string, request: FastifyRequest): unknown =>
  parseJsonText(text, (errors) => deferTextErrors(request, errors));

/** Sets the `textErrors` of the request's context, by the `inputPrefix` of its route. Throws 400 where that is not possible. */
export function deferTextErrors({ context, routeOptions }: FastifyRequest, errors: readonly FieldError[]): void {
  const { inputPrefix } = routeOptions.config;
  if (!context || inputPrefix === undefined || !errors.every(({ fieldName }) => fieldName.startsWith(inputPrefix)))
    throw new ValidationError(errors);
  context.textErrors = errors.map(({ fieldName, message }) => ({
    fieldName: fieldName.slice(inputPrefix.length),
    message,
  }));
}

/**
 * Parses the text of a body. Throws 400 on the field `body`.
 *
 * @param maxTokens Maximum values and field names, counted before they are parsed.
 */
export function parseJson(text: string, maxTokens: number, handleTextErrors: TextErrorHandler): unknown {
  requireTokens(countTokens(text), maxTokens);
  return parseJsonText(text, handleTextErrors);
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
 * Matches each JSON text that has text errors or inexact numbers: valid UTF-8 has surrogates and U+0000 as escapes only, and such
 * numbers `MAY_BE_INEXACT`. Visiting each value of a body of 10 KB takes 24 µs.
 */
const MAY_HAVE_PROBLEMS = new RegExp(`\\\\u|${MAY_BE_INEXACT.source}`, 'i');

type TextErrorHandler = (errors: FieldError[]) => void;

/**
 * Parses text whose tokens were counted. Throws 400.
 *
 * @param handleTextErrors is called with the errors of U+0000 and lone surrogates, which PostgreSQL cannot store, and of numbers that may have
 * changed.
 * @param fieldName of the error of text that is not JSON.
 */
export function parseJsonText(text: string, handleTextErrors: TextErrorHandler, fieldName = 'body'): unknown {
  const mayHaveProblems = MAY_HAVE_PROBLEMS.test(text);
  let value: unknown;
  try {
    value = mayHaveProblems ? parseExactJson(text) : JSON.parse(text);
  } catch {
    throw invalidField(fieldName, 'must be valid JSON');
  }
  const errors = mayHaveProblems ? findTextErrors(value) : [];
  if (errors.length > 0) handleTextErrors(errors);
  return value;
}

/** Matches a text that may nest too deep. */
const MAY_BE_DEEP = new RegExp(`^(?:[^[{]*[[{]){${MAX_JSON_DEPTH + 1}}`);

/** Returns the number of tokens of a text, or more for a short one, which is not scanned. Throws as `countTokens`. */
export const estimateTokens = (text: string): number =>
  text.length <= MANY_TOKENS && !MAY_BE_DEEP.test(text) ? text.length : countTokens(text);

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPENING_BRACKET = 91;
const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/**
 * Counts the values and field names of a JSON text without parsing it; an empty list or object counts as two. Throws 400 where it
 * nests deeper than `MAX_JSON_DEPTH`, because `JSON.parse` would recurse as deep.
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
        if (++depth > MAX_JSON_DEPTH) throw invalidField('body', `must not nest deeper than ${MAX_JSON_DEPTH} levels`);
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth--;
    }
  }
  return tokens;
}

function findTextErrors(value: unknown): FieldError[] {
  return findJsonProblems(value).map(({ path: [first, ...rest], message }) => {
    if (first === undefined) return { fieldName: 'body', message };
    return { fieldName: formatFieldPath(typeof first === 'number' ? `[${first}]` : first, rest), message };
  });
}
