import { isObject } from '../../schema/is-object.ts';
import { INEXACT_NUMBER, isExactNumber, parseExactJson } from '../../schema/json-problems.ts';
import { isCleanText } from '../../schema/text.ts';
import { MCP_PATH } from '../auth/access-tokens.ts';
import { invalidRequest, invalidTarget } from './errors.ts';

/** Non-empty parameters by name. RFC 6749 section 3.2: a parameter without a value counts as omitted. */
export type RequestParameters = ReadonlyMap<string, string>;

/** Maximum number of parameters in one request to an OAuth endpoint or page. */
const MAX_PARAMETERS = 64;

/** Every parameter of the endpoints. Others are ignored, whatever their value. RFC 6749 section 3.2. */
const SUPPORTED_PARAMETERS =
  /^(grant_type|client_id|client_secret|audience|scope|code|redirect_uri|resource|code_verifier|refresh_token|token|token_type_hint)$/;

/** Parameters of an authorization request alone. */
const AUTHORIZATION_PARAMETERS = /^(response_type|state|code_challenge|code_challenge_method|builder_id)$/;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Parses an `application/x-www-form-urlencoded` body. RFC 6749 section 4.4.2 and appendix B. */
export const parseFormBody = (body: Uint8Array): RequestParameters => toParameters(parseFormPairs(decodeUtf8(body)));

/** Decodes the pairs of a form-encoded body or query, in order, duplicates included. */
export function parseFormPairs(text: string): [name: string, value: string][] {
  const pairs = text.split('&').filter((pair) => pair !== '');
  requireParameterCount(pairs.length);
  return pairs.map((pair) => {
    const [name, ...value] = pair.split('=');
    return [parseFormComponent(name!), parseFormComponent(value.join('='))];
  });
}

/** Parses an `application/json` body, which must be one flat object; an empty body has no parameters. OAU-7. */
export function parseJsonBody(body: Uint8Array): RequestParameters {
  const text = decodeUtf8(body);
  if (text.trim() === '') return new Map();
  const names = scanFieldNames(text);
  let fields: Record<string, unknown>;
  try {
    fields = parseExactJson(text) as typeof fields;
  } catch {
    throw invalidRequest('The body is not valid JSON.');
  }
  if (!isObject(fields)) throw invalidRequest('The body must be a JSON object.');
  const entries = names.map((quoted) => JSON.parse(quoted) as string).map((name) => [name, fields[name]] as const);
  const inexact = entries.find(([, sent]) => hasInexactNumber(sent));
  if (inexact) throw invalidRequest(`The parameter ${inexact[0]} ${INEXACT_NUMBER}.`);
  return toParameters(entries);
}

/** Whether a number inside a JSON value would change. Without recursion: the depth of the body is not limited. ERR-27. */
function hasInexactNumber(value: unknown): boolean {
  const values = [value];
  for (let next = values.pop(); next !== undefined; next = values.pop()) {
    if (typeof next === 'number' && !isExactNumber(next)) return true;
    if (next !== null && typeof next === 'object') for (const item of Object.values(next)) values.push(item);
  }
  return false;
}

/** Decodes one form-encoded name or value. Throws `URIError`. RFC 6749 appendix B. */
export const decodeFormComponent = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));

/** Decodes one form-encoded name or value; throws `invalid_request`. */
function parseFormComponent(text: string): string {
  try {
    return decodeFormComponent(text);
  } catch {
    throw invalidRequest('The parameters are not valid form data.');
  }
}

/** Decodes a UTF-8 body; throws `invalid_request`. */
export function decodeUtf8(body: Uint8Array): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw invalidRequest('The body is not UTF-8.');
  }
}

function toParameters(entries: readonly (readonly [name: string, value: unknown])[]): RequestParameters {
  rejectRepeatedParameters(entries.map(([name]) => name));
  const parameters = new Map<string, string>();
  for (const [name, sent] of entries) {
    const value = parseParameterValue(name, sent);
    if (value) parameters.set(name, value);
  }
  return parameters;
}

/** Strings, of which the last may have no end, and what structures JSON. */
const JSON_TOKEN = /"(?:[^"\\]|\\.?)*(?:"|$)|[{}[\]:]/gs;

/**
 * Returns the field names of a JSON object as quoted JSON strings, duplicates included, which `JSON.parse` drops silently.
 * Runs in one pass over text that need not be valid JSON.
 */
function scanFieldNames(json: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let string = '';
  for (const [token] of json.matchAll(JSON_TOKEN)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token !== ':') string = token;
    else if (depth === 1) {
      names.push(string);
      requireParameterCount(names.length);
    }
  }
  return names;
}

/** Throws `invalid_request` above `MAX_PARAMETERS`. Called before any other work on the parameters. */
export function requireParameterCount(count: number): void {
  if (count > MAX_PARAMETERS) throw invalidRequest(`A request may have at most ${MAX_PARAMETERS} parameters.`);
}

/** Throws `invalid_request` for a parameter that is included more than once (RFC 6749 section 3.2), or with brackets after its name. */
export function rejectRepeatedParameters(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    const [known] = name.split('[') as [string];
    if (known !== name && (SUPPORTED_PARAMETERS.test(known) || AUTHORIZATION_PARAMETERS.test(known)))
      throw invalidRequest(`The parameter ${known} must be named without brackets.`);
    if (seen.has(name)) throw invalidRequest(`The parameter ${name} is repeated.`);
    seen.add(name);
  }
}

/**
 * Returns the value of a supported parameter, which is text that PostgreSQL can store; null for an unsupported parameter.
 * Throws `invalid_request` for any other value.
 */
export function parseParameterValue(name: string, value: unknown): string | null {
  if (typeof value === 'string' && !isCleanText(value)) {
    throw invalidRequest(`The parameter ${name} holds U+0000 or an unpaired surrogate.`);
  }
  if (!SUPPORTED_PARAMETERS.test(name)) return null;
  if (typeof value !== 'string') throw invalidRequest(`The parameter ${name} must be a string.`);
  return value;
}

/** Returns the value of a required parameter; throws `invalid_request`. RFC 6749 section 5.2. */
export function requireParameter(parameters: RequestParameters, name: string): string {
  const value = parameters.get(name);
  if (value === undefined) throw invalidRequest(`The parameter ${name} is missing.`);
  return value;
}

/** Throws `invalid_request` for an `audience` other than the API's base URL. OAU-10. */
export function requireAudience(parameters: RequestParameters, baseUrl: string): void {
  const audience = parameters.get('audience');
  if (audience !== undefined && audience !== baseUrl) throw invalidRequest(`The audience must be ${baseUrl}.`);
}

/**
 * Returns the audience of the tokens that the `resource` asks for; null for those of the API, which also need no `resource`. Throws
 * `invalid_target` for another one. RFC 8707 section 2, OAU-48.
 */
export function parseResource(parameters: RequestParameters, baseUrl: string): string | null {
  const resource = parameters.get('resource') ?? baseUrl;
  if (resource === baseUrl) return null;
  if (resource !== `${baseUrl}${MCP_PATH}`)
    throw invalidTarget(`The resource must be ${baseUrl} or ${baseUrl}${MCP_PATH}.`);
  return resource;
}
