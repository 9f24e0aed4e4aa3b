import { invalidRequest } from '../errors.ts';

/** The audience, when it is sent, is the API's base address. Part 5 of the specification, part 11 of the decisions. */
export function requireAudience(audience: string | undefined, baseUrl: string): void {
  if (audience !== undefined && audience !== baseUrl) throw invalidRequest(`The audience must be ${baseUrl}.`);
}
