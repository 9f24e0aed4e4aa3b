import { isCleanText } from '../../../schema/scalars.ts';
import { invalidRequest } from '../errors.ts';

/** Every parameter of the endpoints. Others are ignored, whatever they hold. RFC 6749 section 3.2. */
const KNOWN = new Set([
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

/** The value of a known parameter: text that any column can hold. Null for a parameter that we do not know. */
export function requireParameterValue(name: string, value: unknown): string | null {
  if (typeof value === 'string' && !isCleanText(value)) {
    throw invalidRequest(`The parameter ${name} holds U+0000 or an unpaired surrogate.`);
  }
  if (!KNOWN.has(name)) return null;
  if (typeof value !== 'string') throw invalidRequest(`The parameter ${name} must be a string.`);
  return value;
}
