import type { EntityClass, MetadataStorage } from '@mikro-orm/core';
import type { ClientBase } from 'pg';
import { entities } from '../../entities/index.ts';

/** Rows to insert, by entity. */
export class Rows {
  readonly #byEntity = new Map<EntityClass<object>, object[]>();

  /** Adds a row and returns it. All rows of an entity must have the same properties. */
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
export async function insertRows(client: ClientBase, metadata: MetadataStorage, rows: Rows): Promise<void> {
  for (const entity of entities as EntityClass<object>[]) {
    const list = rows.of(entity);
    if (list.length > 0) await insert(client, metadata, entity, list);
  }
}

/** PostgreSQL converts the rows from JSON with the column types of the table. */
async function insert(client: ClientBase, metadata: MetadataStorage, entity: EntityClass<object>, rows: object[]) {
  const { tableName, properties } = metadata.get(entity);
  const columnOf = new Map(
    Object.keys(rows[0]!).map((name) => {
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
