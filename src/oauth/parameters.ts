import { requireParameterCount } from './checks/parameter-count.ts';
import { requireParameterValue } from './checks/parameter-value.ts';
import { refuseRepeatedParameters } from './checks/repeated-parameters.ts';
import { invalidRequest } from './errors.ts';

/** Parameters of a request that were sent with a value. RFC 6749 section 3.2: one without a value counts as left out. */
export type Parameters = ReadonlyMap<string, string>;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Reads an `application/x-www-form-urlencoded` body. RFC 6749 section 4.4.2 and appendix B. */
export const readForm = (body: Uint8Array): Parameters => toParameters(formPairs(readText(body)));

/** Names and values of form data, of a body or of a query, as they were sent. */
export function formPairs(text: string): [name: string, value: string][] {
  return splitPairs(text).map((pair) => {
    const at = pair.indexOf('=');
    return at < 0
      ? [decodeFormText(pair), '']
      : [decodeFormText(pair.slice(0, at)), decodeFormText(pair.slice(at + 1))];
  });
}

/** Splits form data at `&` and drops empty pairs; stops at the first pair beyond the limit. */
function splitPairs(text: string): string[] {
  const pairs: string[] = [];
  for (let start = 0; start < text.length; ) {
    const separator = text.indexOf('&', start);
    const end = separator < 0 ? text.length : separator;
    if (end > start) pairs.push(text.slice(start, end));
    requireParameterCount(pairs.length);
    start = end + 1;
  }
  return pairs;
}

/** Reads an `application/json` body: one flat object. OAU-7. */
export function readJson(body: Uint8Array): Parameters {
  const text = readText(body);
  if (text.trim() === '') return new Map();
  const names = fieldNames(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidRequest('The body is not valid JSON.');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw invalidRequest('The body must be a JSON object.');
  }
  const fields = value as Record<string, unknown>;
  const entries = names.map((quoted): [string, unknown] => {
    const name = JSON.parse(quoted) as string;
    return [name, fields[name]];
  });
  return toParameters(entries);
}

/** Decodes one name or value of a form, or one half of Basic credentials. Throws `URIError`. RFC 6749 appendix B. */
export const formDecode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));

function decodeFormText(text: string): string {
  try {
    return formDecode(text);
  } catch {
    throw invalidRequest('The parameters are not valid form data.');
  }
}

export function readText(body: Uint8Array): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw invalidRequest('The body is not UTF-8.');
  }
}

function toParameters(entries: [name: string, value: unknown][]): Parameters {
  refuseRepeatedParameters(entries.map(([name]) => name));
  const parameters = new Map<string, string>();
  for (const [name, sent] of entries) {
    const value = requireParameterValue(name, sent);
    if (value) parameters.set(name, value);
  }
  return parameters;
}

/**
 * Names of the fields of a JSON object, quoted as they were written. `JSON.parse` keeps the last of two equal names without an
 * error. Runs before the text is known to be valid JSON, in one pass over it.
 */
function fieldNames(json: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let string = '';
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') {
      const end = endOfString(json, at);
      string = json.slice(at, end + 1);
      at = end;
    } else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === ':' && depth === 1) {
      names.push(string);
      requireParameterCount(names.length);
    }
  }
  return names;
}

/** Index of the quote that closes the string which opens at `start`; the end of the text when none does. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === '\\') at++;
    else if (json[at] === '"') return at;
  }
  return json.length;
}
