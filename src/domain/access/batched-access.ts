import type { EntityClass } from '@mikro-orm/core';
import { ClientSecret } from '../../../entities/client-secret.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { Membership } from '../../../entities/membership.entity.ts';
import { OAuthClient } from '../../../entities/oauth-client.entity.ts';
import type { Database } from '../../database/database.ts';
import { toClient, toIntegrator, toMembership } from './list-access.ts';

/* Reads for the rows of a whole list: each takes the same number of statements for one parent as for a page of them. */

type Keys = readonly string[];

/** Returns the integrators with these ids, by id. */
export const findIntegrators = (database: Database, ids: Keys) => findByIds(database, Integrator, ids, toIntegrator);

/** Returns the clients with these ids, by id. */
export const findClients = (database: Database, ids: Keys) => findByIds(database, OAuthClient, ids, toClient);

/** Returns how many clients and connections of each integrator are active. SQL: two counts per integrator in one statement. */
export async function countActiveClientsAndConnections(database: Database, integratorIds: Keys) {
  const rows = await database.fork().execute<{ id: string; clients: number; connections: number }[]>(
    `select parent.id,
        (select count(*)::int from oauth_client where integrator_id = parent.id and disabled_at is null) as clients,
        (select count(*)::int from connection where integrator_id = parent.id and status = 'ACTIVE') as connections
      from unnest(string_to_array(?, ',')) parent (id)`,
    [integratorIds.join()],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the first memberships of each user, in the order of creation. SQL: a limit per user. */
export async function findMembershipsOf(database: Database, userIds: Keys, limit: number) {
  const em = database.fork();
  const found = await em.execute<{ id: number }[]>(
    `select member.id from unnest(string_to_array(?, ',')) parent (id) cross join lateral
      (select id from membership where user_id = parent.id order by id limit ?) member`,
    [userIds.join(), limit],
  );
  const rows = await em.find(Membership, { id: { $in: found.map(({ id }) => id) } }, { orderBy: { id: 'asc' } });
  return groupBy(userIds, rows, ({ userId }) => userId, toMembership);
}

/** Returns the ids and times of each client's valid secrets, the newest first. */
export async function findSecretsOf(database: Database, clientIds: Keys) {
  const where = { clientId: { $in: [...clientIds] } };
  const rows = await database.fork().find(ClientSecret, where, { orderBy: { createdAt: 'desc', id: 'desc' } });
  const toKey = ({ clientId }: ClientSecret) => clientId;
  return groupBy(clientIds, rows, toKey, ({ id, createdAt }) => ({ id, createdAt }));
}

async function findByIds<T extends { id: string }, V>(
  database: Database,
  entity: EntityClass<T>,
  ids: Keys,
  toValue: (row: T) => V,
): Promise<Map<string, V>> {
  const rows = (await database.fork().find(entity, { id: { $in: [...ids] } } as never)) as T[];
  return new Map(rows.map((row) => [row.id, toValue(row)]));
}

/** Returns the values of each key, none for a key without any. */
function groupBy<T, V>(keys: Keys, rows: readonly T[], toKey: (row: T) => string, toValue: (row: T) => V) {
  const groups = Map.groupBy(rows, toKey);
  return new Map(keys.map((key) => [key, (groups.get(key) ?? []).map(toValue)]));
}
