import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';

/** A builder that the user is a member of, and what it allows the integrator. */
export interface BuilderChoice {
  id: string;
  name: string;
  /** Key of the logo in the storage. */
  logoKey: string | null;
  /** The builder's own word for what the user does there. */
  role: string;
  /** Scopes that the connection allows; null when the builder is not connected to the integrator. */
  allowed: string[] | null;
}

/** A choice as a page shows it. */
export interface ShownChoice extends BuilderChoice {
  /** Signed URL of the logo. */
  logoUrl: string | null;
}

const CHOICES: Statement = {
  name: 'oauth.choices',
  text: `select builder.id, builder.name, builder.logo_key, membership.role, to_json(connection.scopes)
    from membership
      join app_user on app_user.id = membership.user_id and app_user.disabled_at is null
      join builder on builder.id = membership.builder_id
      left join connection on connection.builder_id = builder.id and connection.integrator_id = $2
        and connection.status = 'ACTIVE'
    where membership.user_id = $1 and ($3::text is null or builder.id = $3)
    order by builder.name, builder.id`,
};

/** The user's builders by name, or the one of `builderId` if it is among them; none once the user is disabled. */
export async function findChoices(
  database: Database,
  {
    userId,
    integratorId,
    builderId = null,
  }: { userId: string; integratorId: string | null; builderId?: string | null },
): Promise<BuilderChoice[]> {
  const rows = await database.runner.run(CHOICES, [userId, integratorId, builderId]);
  return rows.map(([id, name, logoKey, role, allowed]) => ({
    id: id!,
    name: name!,
    logoKey: logoKey!,
    role: role!,
    allowed: allowed ? JSON.parse(allowed) : null,
  }));
}
