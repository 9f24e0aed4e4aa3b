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
  const pairs = text.split('&').filter((pair) => pair !== '');
  return pairs.map((pair) => {
    const at = pair.indexOf('=');
    return at < 0
      ? [decodeFormText(pair), '']
      : [decodeFormText(pair.slice(0, at)), decodeFormText(pair.slice(at + 1))];
  });
}

/** Reads an `application/json` body: one flat object. Part 5 of the specification. */
export function readJson(body: Uint8Array): Parameters {
  const text = readText(body);
  if (text.trim() === '') return new Map();
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
  return toParameters(fieldNames(text).map((name) => [name, fields[name]]));
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

/** Names of the fields of a JSON object as they were written: JSON.parse keeps the last of two alike and says nothing. */
function fieldNames(json: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let string = '';
  for (const [token] of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token === ':') {
      if (depth === 1) names.push(JSON.parse(string));
    } else string = token;
  }
  return names;
}
