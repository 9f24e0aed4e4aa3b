import { invalidRequest } from '../errors.ts';

/** The state is required, so that no client forgets to tie the answer to its browser. OAU-17. */
export function requireState(state: string | null): string {
  if (state === null) throw invalidRequest('The parameter state is missing.');
  return state;
}
