import type { EntityClass, EntityProperty } from '@mikro-orm/core';
import { ClientSecret } from '../../../entities/client-secret.entity.ts';
import { Connection } from '../../../entities/connection.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { Membership } from '../../../entities/membership.entity.ts';
import { OAuthClient } from '../../../entities/oauth-client.entity.ts';
import type { Database } from '../../database/database.ts';
import { toClient, toConnection, toIntegrator, toMembership } from './list-access.ts';

/*
 * Reads for the rows of a whole list: each takes the same number of statements for one parent as for a page of them.
 * SQL: the first rows of each of several parents.
 */

type Keys = readonly string[];

/** Returns the integrators with these ids, by id. */
export const findIntegrators = (database: Database, ids: Keys) => findByIds(database, Integrator, ids, toIntegrator);

/** Returns the clients with these ids, by id. */
export const findClients = (database: Database, ids: Keys) => findByIds(database, OAuthClient, ids, toClient);

/** Returns the first clients of each integrator, in the order of creation. */
export const findClientsOf = (database: Database, integratorIds: Keys, limit: number) =>
  findChildren(database, OAuthClient, 'integratorId', integratorIds, limit, toClient);

/** Returns the first connections of each integrator, in the order of creation. */
export const findConnectionsOf = (database: Database, integratorIds: Keys, limit: number) =>
  findChildren(database, Connection, 'integratorId', integratorIds, limit, toConnection);

/** Returns how many clients and connections of each integrator are active. */
export async function countActiveOf(database: Database, integratorIds: Keys) {
  const rows = await database.fork().execute<{ id: string; clients: number; connections: number }[]>(
    `select parent.id,
        (select count(*)::int from oauth_client where integrator_id = parent.id and disabled_at is null) as clients,
        (select count(*)::int from connection where integrator_id = parent.id and status = 'ACTIVE') as connections
      from unnest(string_to_array(?, ',')) parent (id)`,
    [integratorIds.join()],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the first memberships of each user, in the order of creation. */
export const findMembershipsOf = (database: Database, userIds: Keys, limit: number) =>
  findChildren(database, Membership, 'userId', userIds, limit, toMembership);

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

/** Returns at most `limit` rows of each parent, those with the lowest ids. */
async function findChildren<T extends object, V>(
  database: Database,
  entity: EntityClass<T>,
  parent: keyof T & string,
  keys: Keys,
  limit: number,
  toValue: (row: T) => V,
): Promise<Map<string, V[]>> {
  const { tableName, properties } = database.metadata.get(entity);
  const column = (properties as Record<string, EntityProperty>)[parent]!.fieldNames[0]!;
  const em = database.fork();
  const children = await em.execute<{ id: string }[]>(
    `select child.id from unnest(string_to_array(?, ',')) parent (id) cross join lateral
      (select id from "${tableName}" where "${column}" = parent.id order by id limit ?) child`,
    [keys.join(), limit],
  );
  const where = { id: { $in: children.map(({ id }) => id) } };
  const rows = (await em.find(entity, where as never, { orderBy: { id: 'asc' } as never })) as T[];
  return groupBy(keys, rows, (row) => row[parent] as string, toValue);
}

/** Returns the values of each key, none for a key without any. */
function groupBy<T, V>(keys: Keys, rows: readonly T[], toKey: (row: T) => string, toValue: (row: T) => V) {
  const groups = Map.groupBy(rows, toKey);
  return new Map(keys.map((key) => [key, (groups.get(key) ?? []).map(toValue)]));
}
