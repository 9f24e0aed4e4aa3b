import type { BuilderMembership } from '../builder-memberships.ts';
import type { OAuthError } from '../errors.ts';

/** A membership in a builder that has an active connection to the integrator. */
export type ConnectedMembership = BuilderMembership & { allowedScopes: string[] };

/**
 * Throws unless the user is a member of the builder and the builder is connected to the integrator. Checked at consent and
 * again at each token request, so that a removed membership or connection takes effect at the next refresh.
 * OAU-23, OAU-35.
 *
 * @param createError `accessDenied` at the authorization endpoint, `invalidGrant` at the token endpoint
 */
export function requireConnectedMembership(
  membership: BuilderMembership | undefined,
  createError: (description: string) => OAuthError,
): ConnectedMembership {
  if (!membership) throw createError('The user is not a member of the builder.');
  if (!isConnected(membership)) throw createError('The builder is not connected to the integrator.');
  return membership;
}

export const isConnected = (membership: BuilderMembership): membership is ConnectedMembership =>
  membership.allowedScopes !== null;
