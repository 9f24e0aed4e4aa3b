import type { ClientType, Grant } from '../../entities/oauth-client.entity.ts';
import type { Database } from '../database/database.ts';
import type { Statement } from '../database/pool/pg-pipeline.ts';
import { VALID_SECRETS } from '../shared/secrets.ts';

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

const NOT_HERE = new Error('The region does not know the client.');

/**
 * Looks for the client in all of the databases at once. The first that knows it answers: a region that is down, or that hangs,
 * stops only those who may be its own.
 */
export function findClient(databases: Database[], clientId: string): Promise<RegisteredClient | null> {
  const looks = databases.map(async (database) => {
    const client = await readClient(database, clientId);
    if (!client) throw NOT_HERE;
    return client;
  });
  return Promise.any(looks).catch(({ errors }: AggregateError) => {
    const failure = errors.find((error) => error !== NOT_HERE);
    if (failure) throw failure;
    return null;
  });
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
