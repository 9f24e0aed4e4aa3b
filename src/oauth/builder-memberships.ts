import type { Statement } from '../database/pool/pg-pipeline.ts';
import type { RegisteredClient } from './clients.ts';

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

const MEMBERSHIPS: Statement = {
  name: 'oauth.memberships',
  text: `select builder.id, builder.name, builder.logo_key, membership.role, to_json(connection.scopes)
    from membership
      join app_user on app_user.id = membership.user_id and app_user.disabled_at is null
        and app_user.staff_role is null
      join builder on builder.id = membership.builder_id
      left join connection on connection.builder_id = builder.id and connection.integrator_id = $2
        and connection.status = 'ACTIVE'
    where membership.user_id = $1 and ($3::text is null or builder.id = $3)
    order by builder.name, builder.id`,
};

/** Returns the user's memberships by builder name, with what each builder allows the client; none for a disabled user. */
export const findBuilderMemberships = (client: IntegratorClient, userId: string): Promise<BuilderMembership[]> =>
  queryMemberships(client, userId, null);

/** Returns the user's membership in one builder; undefined without one. */
export async function findBuilderMembership(
  client: IntegratorClient,
  { userId, builderId }: { userId: string; builderId: string },
): Promise<BuilderMembership | undefined> {
  const [membership] = await queryMemberships(client, userId, builderId);
  return membership;
}

type IntegratorClient = Pick<RegisteredClient, 'database' | 'integratorId'>;

async function queryMemberships(
  { database, integratorId }: IntegratorClient,
  userId: string,
  builderId: string | null,
): Promise<BuilderMembership[]> {
  const rows = await database.runner.run(MEMBERSHIPS, [userId, integratorId, builderId]);
  return rows.map(([id, name, logoKey, role, scopes]) => ({
    builderId: id!,
    builderName: name!,
    logoKey: logoKey!,
    role: role!,
    allowedScopes: scopes ? JSON.parse(scopes) : null,
  }));
}
