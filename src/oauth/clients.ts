import type { OAuthClient } from '../../entities/oauth-client.entity.ts';
import type { Database } from '../database/database.ts';
import { statement, type TextRow } from '../database/pool/pg-pipeline.ts';
import { VALID_SECRETS } from '../shared/secrets.ts';

/** An enabled client with what the OAuth endpoints need of it. */
export interface RegisteredClient
  extends Pick<OAuthClient, 'id' | 'name' | 'integratorId' | 'type' | 'grants' | 'scopes' | 'redirectUris'> {
  integratorName: string | null;
  /** Digests of the currently valid secrets. */
  digests: string[];
  /** Database of the client's region. */
  database: Database;
}

/** Enabled clients by id, each with its newest secrets. */
const CLIENTS = statement('oauth.client')`
  select requested.number, json_build_object('id', client.id, 'name', client.name, 'type', client.type,
    'integratorId', client.integrator_id, 'integratorName', integrator.name, 'grants', client.grants,
    'scopes', client.scopes, 'redirectUris', client.redirect_uris,
    'digests', array(select secret.digest from oauth_client_secret secret where secret.client_id = client.id
      order by secret.created_at desc, secret.id desc limit ${VALID_SECRETS}))
  from unnest($1::text[]) with ordinality requested (id, number)
    join oauth_client client on client.id = requested.id and client.disabled_at is null
    left join integrator on integrator.id = client.integrator_id`;

const NOT_IN_REGION = new Error('The client is not in the region.');

/**
 * Searches all the databases in parallel and returns the first match, so that an unavailable region affects only its own
 * clients. Returns null when no database has the client; throws when one of them failed and no other has it.
 */
export function findClient(databases: Database[], clientId: string): Promise<RegisteredClient | null> {
  const lookups = databases.map(async (database) => {
    const client = await readClient(database, clientId);
    if (!client) throw NOT_IN_REGION;
    return client;
  });
  return Promise.any(lookups).catch(({ errors }: AggregateError) => {
    const failure = errors.find((error) => error !== NOT_IN_REGION);
    if (failure) throw failure;
    return null;
  });
}

async function readClient(database: Database, id: string): Promise<RegisteredClient | null> {
  const [[row]] = (await database.runner.executeBatched(CLIENTS, [[id]])) as [TextRow[]];
  return row ? { ...(JSON.parse(row[1]!) as Omit<RegisteredClient, 'database'>), database } : null;
}
