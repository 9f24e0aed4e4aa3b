import type { OAuthError } from '../errors.ts';
import type { BuilderChoice } from '../interaction/builder-choices.ts';

/** A builder that the user is a member of and that is connected to the integrator. */
export type ConnectedChoice = BuilderChoice & { allowed: string[] };

/**
 * The user is a member of the builder, and the builder is connected: when the user chooses, and at each exchange after.
 * OAU-23, OAU-35.
 *
 * @param refuse makes the error: `access_denied` of the authorization endpoint, `invalid_grant` of the token endpoint.
 */
export function requireChoice(
  choice: BuilderChoice | undefined,
  refuse: (description: string) => OAuthError,
): ConnectedChoice {
  if (!choice) throw refuse('The user is not a member of the builder.');
  if (!isConnected(choice)) throw refuse('The builder is not connected to the integrator.');
  return choice;
}

export const isConnected = (choice: BuilderChoice): choice is ConnectedChoice => choice.allowed !== null;
