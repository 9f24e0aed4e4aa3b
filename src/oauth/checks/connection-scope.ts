import { invalidScope } from '../errors.ts';
import type { ConnectedChoice } from './builder-choice.ts';

/** The builder's connection allows every scope that is asked for. RFC 6749 section 3.3, OAU-23. */
export function requireConnectionScopes(asked: readonly string[], choice: ConnectedChoice): void {
  const refused = scopesRefused(asked, choice);
  if (refused.length > 0) throw invalidScope(`The builder's connection does not allow: ${refused.join(' ')}.`);
}

export const scopesRefused = (asked: readonly string[], { allowed }: ConnectedChoice) =>
  asked.filter((scope) => !allowed.includes(scope));
