import { invalidRequest } from '../errors.ts';
import type { Parameters } from '../parameters.ts';

/** The value of a parameter that must be sent. RFC 6749 section 5.2, `invalid_request`. */
export function requireParameter(parameters: Parameters, name: string): string {
  const value = parameters.get(name);
  if (value === undefined) throw invalidRequest(`The parameter ${name} is missing.`);
  return value;
}
