import { invalidRequest } from '../errors.ts';

/** The audience, when it is sent, is the API's base address. OAU-10. */
export function requireAudience(audience: string | undefined, baseUrl: string): void {
  if (audience !== undefined && audience !== baseUrl) throw invalidRequest(`The audience must be ${baseUrl}.`);
}
