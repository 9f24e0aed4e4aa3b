import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';

/** An application that a user has authorised for one builder. */
export interface AuthorizedApplication {
  clientId: string;
  clientName: string;
  /** Null for a client without an integrator. */
  vendor: string | null;
  builderId: string;
  builderName: string;
  /** Of all current authorisations of the application for the builder. */
  scopes: string[];
  /** ISO 8601: when the user first allowed it, of the authorisations that are current. */
  since: string;
  /** ISO 8601: when the application last got a token, which it does at least every hour while it is used. */
  lastUsed: string;
}

const AUTHORIZATIONS: Statement = {
  name: 'oauth.authorizations',
  text: `select family.client_id, client.name, integrator.name, family.builder_id, builder.name, to_json(family.scopes),
      extract(epoch from family.created_at) * 1000,
      extract(epoch from greatest(code.used_at,
        (select max(token.created_at) from oauth_refresh_token token where token.family_id = family.id))) * 1000
    from oauth_token_family family
      join oauth_authorization_code code on code.family_id = family.id and code.used_at is not null
      join oauth_client client on client.id = family.client_id
      left join integrator on integrator.id = client.integrator_id
      join builder on builder.id = family.builder_id
    where family.user_id = $1 and family.revoked_at is null and family.expires_at > $2
    order by builder.name, builder.id, client.name, client.id, family.created_at`,
};

/** Returns the applications that have a current authorisation of the user, by builder and name. OAU-46. */
export async function findAuthorizedApplications(
  database: Database,
  userId: string,
  now: number,
): Promise<AuthorizedApplication[]> {
  const rows = await database.runner.run(AUTHORIZATIONS, [userId, new Date(now).toISOString()]);
  const found = new Map<string, AuthorizedApplication>();
  for (const [clientId, clientName, vendor, builderId, builderName, scopesText, createdAt, usedAt] of rows) {
    const scopes = JSON.parse(scopesText!) as string[];
    const [since, lastUsed] = [createdAt, usedAt].map((each) => new Date(Number(each)).toISOString()) as [
      string,
      string,
    ];
    const key = `${clientId} ${builderId}`;
    const earlier = found.get(key);
    if (!earlier) {
      const names = { clientName: clientName!, vendor: vendor ?? null, builderName: builderName! };
      found.set(key, { clientId: clientId!, builderId: builderId!, ...names, scopes, since, lastUsed });
      continue;
    }
    earlier.scopes = [...new Set([...earlier.scopes, ...scopes])];
    if (lastUsed > earlier.lastUsed) earlier.lastUsed = lastUsed;
  }
  return [...found.values()];
}
