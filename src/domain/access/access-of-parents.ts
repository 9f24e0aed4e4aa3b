import type { EntityClass, EntityProperty } from '@mikro-orm/core';
import { Connection } from '../../../entities/connection.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { Membership } from '../../../entities/membership.entity.ts';
import { OAuthClient } from '../../../entities/oauth-client.entity.ts';
import type { Database } from '../../database/database.ts';
import { toClient, toConnection, toIntegrator, toMembership } from './list-access.ts';

/*
 * Reads for the rows of a whole list: each takes the same number of statements for one parent as for a page of them.
 */

type Keys = readonly string[];

/** Returns the integrators with these ids, by id. */
export async function findIntegrators(database: Database, ids: Keys) {
  const rows = await database.fork().find(Integrator, { id: { $in: [...ids] } });
  return new Map(rows.map((row) => [row.id, toIntegrator(row)]));
}

/** Returns the clients with these ids, by id. */
export async function findClients(database: Database, ids: Keys) {
  const rows = await database.fork().find(OAuthClient, { id: { $in: [...ids] } });
  return new Map(rows.map((row) => [row.id, toClient(row)]));
}

/** Returns the first clients of each integrator, in the order of creation. */
export const findClientsOf = async (database: Database, integratorIds: Keys, limit: number) =>
  groupBy(integratorIds, await findChildren(database, OAuthClient, 'integratorId', integratorIds, limit), (client) => [
    client.integratorId!,
    toClient(client),
  ]);

/** Returns the first connections of each integrator, in the order of creation. */
export const findConnectionsOf = async (database: Database, integratorIds: Keys, limit: number) =>
  groupBy(integratorIds, await findChildren(database, Connection, 'integratorId', integratorIds, limit), (row) => [
    row.integratorId,
    toConnection(row),
  ]);

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
export const findMembershipsOf = async (database: Database, userIds: Keys, limit: number) =>
  groupBy(userIds, await findChildren(database, Membership, 'userId', userIds, limit), (row) => [
    row.userId,
    toMembership(row),
  ]);

/** Returns the ids and times of each client's valid secrets, the newest first. */
export async function findSecretsOf(database: Database, clientIds: Keys) {
  const rows = await database.fork().execute<{ id: number; client_id: string; created_at: string }[]>(
    `select id, client_id, created_at::text from oauth_client_secret where client_id = any(string_to_array(?, ','))
      order by created_at desc, id desc`,
    [clientIds.join()],
  );
  return groupBy(clientIds, rows, ({ id, client_id, created_at }) => [
    client_id,
    { id, createdAt: new Date(created_at).toISOString() },
  ]);
}

/** Returns at most `limit` rows of each parent, those with the lowest ids. */
async function findChildren<T extends object>(
  database: Database,
  entity: EntityClass<T>,
  parent: keyof T & string,
  keys: Keys,
  limit: number,
): Promise<T[]> {
  const { tableName, properties } = database.metadata.get(entity);
  const column = (properties as Record<string, EntityProperty>)[parent]!.fieldNames[0]!;
  const em = database.fork();
  const children = await em.execute<{ id: string }[]>(
    `select child.id from unnest(string_to_array(?, ',')) parent (id) cross join lateral
      (select id from "${tableName}" where "${column}" = parent.id order by id limit ?) child`,
    [keys.join(), limit],
  );
  const where = { id: { $in: children.map(({ id }) => id) } };
  return (await em.find(entity, where as never, { orderBy: { id: 'asc' } as never })) as T[];
}

/** Returns the values of each key, none for a key without any. */
function groupBy<T, V>(keys: Keys, rows: readonly T[], toEntry: (row: T) => readonly [string, V]): Map<string, V[]> {
  const groups = new Map<string, V[]>(keys.map((key) => [key, []]));
  for (const row of rows) {
    const [key, value] = toEntry(row);
    groups.get(key)!.push(value);
  }
  return groups;
}
