import { invalidRequest } from '../errors.ts';

/** Throws `invalid_request` for an `audience` other than the API's base URL. The parameter is optional here. OAU-10. */
export function requireAudience(audience: string | undefined, baseUrl: string): void {
  if (audience !== undefined && audience !== baseUrl) throw invalidRequest(`The audience must be ${baseUrl}.`);
}
