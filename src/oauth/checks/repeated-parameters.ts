import { invalidRequest } from '../errors.ts';

/** No parameter may be included more than once. RFC 6749 section 3.2. */
export function refuseRepeatedParameters(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw invalidRequest(`The parameter ${name} is repeated.`);
    seen.add(name);
  }
}
