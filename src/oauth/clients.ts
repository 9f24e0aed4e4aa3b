import type { ClientType, Grant } from '../../entities/oauth-client.entity.ts';
import type { Database } from '../database/database.ts';
import type { Statement } from '../database/wire.ts';
import { VALID_SECRETS } from './secrets.ts';

/** A client that is not disabled, as the OAuth endpoints need it. */
export interface RegisteredClient {
  id: string;
  /** As people read it when they consent. */
  name: string;
  /** Null for an internal client, which signs no people in. */
  integratorId: string | null;
  integratorName: string | null;
  type: ClientType;
  grants: Grant[];
  scopes: string[];
  /** Where codes may be sent, each compared exactly. */
  redirectUris: string[];
  /** Digests of the secrets that are valid now. */
  digests: string[];
  /** The region's database that the client lives in. */
  database: Database;
}

const CLIENT: Statement = {
  name: 'oauth.client',
  text: `select client.name, client.integrator_id, integrator.name, client.type, to_json(client.grants),
      to_json(client.scopes), to_json(client.redirect_uris),
      to_json(array(select secret.digest from oauth_client_secret secret where secret.client_id = client.id
        order by secret.created_at desc, secret.id desc limit ${VALID_SECRETS}))
    from oauth_client client left join integrator on integrator.id = client.integrator_id
    where client.id = $1 and client.disabled_at is null`,
};

/**
 * Looks for the client in each of the databases, always in all of them, so that an unknown client costs as much as a
 * known one. A region that is down does not stop the clients of the others.
 */
export async function findClient(databases: Database[], clientId: string): Promise<RegisteredClient | null> {
  const answers = await Promise.allSettled(databases.map((database) => readClient(database, clientId)));
  const found = answers.find((answer) => answer.status === 'fulfilled' && answer.value !== null);
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (found?.status === 'fulfilled') return found.value;
  if (failed?.status === 'rejected') throw failed.reason;
  return null;
}

async function readClient(database: Database, id: string): Promise<RegisteredClient | null> {
  const [row] = await database.runner.run(CLIENT, [id]);
  if (!row) return null;
  const [name, integratorId, integratorName, type, grants, scopes, redirectUris, digests] = row;
  return {
    id,
    name: name!,
    integratorId: integratorId!,
    integratorName: integratorName!,
    type: type as ClientType,
    grants: JSON.parse(grants!),
    scopes: JSON.parse(scopes!),
    redirectUris: JSON.parse(redirectUris!),
    digests: JSON.parse(digests!),
    database,
  };
}
