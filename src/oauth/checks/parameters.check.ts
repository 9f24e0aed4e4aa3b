import { isCleanText } from '../../../schema/json-problems.ts';
import { invalidRequest } from '../errors.ts';

/** Maximum number of parameters in one request to an OAuth endpoint or page. */
const MAX_PARAMETERS = 64;

/** Every parameter of the endpoints. Others are ignored, whatever their value. RFC 6749 section 3.2. */
const SUPPORTED_PARAMETERS = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'audience',
  'scope',
  'code',
  'redirect_uri',
  'code_verifier',
  'refresh_token',
  'token',
  'token_type_hint',
]);

/** Throws `invalid_request` above `MAX_PARAMETERS`. Called before any other work on the parameters. */
export function requireParameterCount(count: number): void {
  if (count > MAX_PARAMETERS) throw invalidRequest(`A request may have at most ${MAX_PARAMETERS} parameters.`);
}

/** Throws `invalid_request` for a parameter that is included more than once. RFC 6749 section 3.2. */
export function rejectRepeatedParameters(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
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
  if (!SUPPORTED_PARAMETERS.has(name)) return null;
  if (typeof value !== 'string') throw invalidRequest(`The parameter ${name} must be a string.`);
  return value;
}

/** Returns the value of a required parameter; throws `invalid_request`. RFC 6749 section 5.2. */
export function requireParameter(parameters: ReadonlyMap<string, string>, name: string): string {
  const value = parameters.get(name);
  if (value === undefined) throw invalidRequest(`The parameter ${name} is missing.`);
  return value;
}
