import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { selectObjects } from '../../database/read/select-objects.ts';

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
  text: `select json_build_object('clientId', client.id, 'clientName', client.name, 'vendor', integrator.name,
      'builderId', builder.id, 'builderName', builder.name, 'scopes', array_agg(distinct scope),
      'since', to_char(min(family.created_at), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'lastUsed', to_char(max(greatest(code.used_at, (select max(token.created_at) from oauth_refresh_token token
        where token.family_id = family.id))), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from oauth_token_family family
      join oauth_authorization_code code on code.family_id = family.id and code.used_at is not null
      join oauth_client client on client.id = family.client_id
      left join integrator on integrator.id = client.integrator_id
      join builder on builder.id = family.builder_id
      cross join unnest(family.scopes) scope
    where family.user_id = $1 and family.revoked_at is null and family.expires_at > $2
    group by client.id, integrator.id, builder.id
    order by builder.name, builder.id, client.name, client.id`,
};

/** Returns the applications that have a current authorisation of the user, by builder and name. OAU-46. */
export const findAuthorizedApplications = (
  database: Database,
  userId: string,
  now: number,
): Promise<AuthorizedApplication[]> => selectObjects(database, AUTHORIZATIONS, [userId, new Date(now).toISOString()]);
