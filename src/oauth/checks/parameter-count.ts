import { invalidRequest } from '../errors.ts';

/** Maximum number of parameters in one request to an OAuth endpoint or page. */
export const MAX_PARAMETERS = 64;

/** Throws `invalid_request` when a request has more parameters than it may. Called before any other work on them. */
export function requireParameterCount(count: number): void {
  if (count > MAX_PARAMETERS) throw invalidRequest(`A request may have at most ${MAX_PARAMETERS} parameters.`);
}
