import { statement } from '../database/pool/pg-pipeline.ts';
import { selectObjects } from '../database/read/select-objects.ts';
import type { RegisteredClient } from './clients.ts';
import type { OAuthError } from './errors.ts';

/** A builder that the user is a member of, and the scopes that it allows one integrator. */
export interface BuilderMembership {
  builderId: string;
  builderName: string;
  /** Storage key of the builder's logo. */
  logoKey: string | null;
  /** The user's role, as the builder names it. */
  role: string;
  /** Scopes of the connection; null when the builder has no active connection to the integrator. */
  allowedScopes: string[] | null;
}

/** A membership in a builder that has an active connection to the integrator. */
export type ConnectedMembership = BuilderMembership & { allowedScopes: string[] };

type IntegratorClient = Pick<RegisteredClient, 'database' | 'integratorId'>;

const MEMBERSHIPS = statement('oauth.memberships')`
  select json_build_object('builderId', builder.id, 'builderName', builder.name, 'logoKey', builder.logo_key,
    'role', membership.role, 'allowedScopes', connection.scopes)
  from membership
    join app_user on app_user.id = membership.user_id and app_user.disabled_at is null
      and app_user.staff_role is null
    join builder on builder.id = membership.builder_id
    left join connection on connection.builder_id = builder.id and connection.integrator_id = $2
      and connection.status = 'ACTIVE'
  where membership.user_id = $1 and ($3::text is null or builder.id = $3)
  order by builder.name, builder.id`;

/**
 * Returns the user's memberships by builder name, with what each builder allows the client; none for a disabled user.
 *
 * @param builderId the only builder; null for all
 */
export const findBuilderMemberships = (
  { database, integratorId }: IntegratorClient,
  userId: string,
  builderId: string | null = null,
): Promise<BuilderMembership[]> => selectObjects(database, MEMBERSHIPS, [userId, integratorId, builderId]);

/** Returns the user's membership in one builder; undefined without one. */
export const findBuilderMembership = async (
  client: IntegratorClient,
  { userId, builderId }: { userId: string; builderId: string },
): Promise<BuilderMembership | undefined> => (await findBuilderMemberships(client, userId, builderId))[0];

export const isConnected = (membership: BuilderMembership): membership is ConnectedMembership =>
  membership.allowedScopes !== null;

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
