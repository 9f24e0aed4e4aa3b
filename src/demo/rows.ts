import type { EntityClass, MetadataStorage } from '@mikro-orm/core';
import type pg from 'pg';
import { entities } from '../../entities/index.ts';
import type { Database } from '../database/database.ts';
import { connectWithSettings, DIRECT_SETTINGS } from '../database/pool/session-settings.ts';

/** Rows to insert, by entity. */
export class Rows {
  readonly #byEntity = new Map<EntityClass<object>, object[]>();

  /** Adds a row and returns it. Properties that are absent are null, or have their default where no row of the entity has them. */
  add<T extends object>(entity: EntityClass<T>, row: Partial<T>): T {
    const rows = this.of(entity);
    rows.push(row as T);
    return row as T;
  }

  addAll(others: Rows): void {
    for (const [entity, rows] of others.#byEntity) this.of(entity).push(...rows);
  }

  of<T extends object>(entity: EntityClass<T>): T[] {
    let rows = this.#byEntity.get(entity);
    if (!rows) {
      rows = [];
      this.#byEntity.set(entity, rows);
    }
    return rows as T[];
  }
}

/** Inserts all rows, parents first, with one statement per table. */
export async function insertRows(client: pg.ClientBase, metadata: MetadataStorage, rows: Rows): Promise<void> {
  for (const entity of entities as EntityClass<object>[]) {
    const list = rows.of(entity);
    if (list.length > 0) await insert(client, metadata, entity, list);
  }
}

/** PostgreSQL converts the rows from JSON with the column types of the table. */
async function insert(client: pg.ClientBase, metadata: MetadataStorage, entity: EntityClass<object>, rows: object[]) {
  const { tableName, properties } = metadata.get(entity);
  const columnOf = new Map(
    [...new Set(rows.flatMap(Object.keys))].map((name) => {
      const column = (properties as Record<string, { fieldNames?: string[] }>)[name]?.fieldNames?.[0];
      if (!column) throw new Error(`${entity.name} has no column for ${name}.`);
      return [name, column];
    }),
  );
  const records = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, v]) => [columnOf.get(name), v])),
  );
  const columns = [...columnOf.values()].map((column) => `"${column}"`).join(', ');
  const source = `json_populate_recordset(null::"${tableName}", $1::json)`;
  await client.query(`insert into "${tableName}" (${columns}) select ${columns} from ${source}`, [
    JSON.stringify(records),
  ]);
}

/** Runs the work on a new connection, which is closed afterwards. */
export async function withClient<T>({ url }: Database, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectWithSettings(url, DIRECT_SETTINGS);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs the work in a transaction on a new connection. */
export function runInTransaction<T>(database: Database, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withClient(database, async (client) => {
    await client.query('begin');
    // After an error, closing the connection rolls back.
    const result = await work(client);
    await client.query('commit');
    return result;
  });
}
