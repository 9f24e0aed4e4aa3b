import type { EntityClass, EntityManager } from '@mikro-orm/postgresql';
import { entities } from '../../entities/index.ts';

/** Rows of one statement: its time stays far below the limit. */
const CHUNK = 1_000;

/** Rows to insert, by entity. */
export class Rows {
  readonly #byEntity = new Map<EntityClass<object>, object[]>();

  /** Adds a row and returns it. Properties that are absent have the default of their column, or are null. */
  add<T extends object>(entity: EntityClass<T>, row: Partial<T>): T {
    const rows = this.of(entity);
    rows.push(row as T);
    return row as T;
  }

  addAll(others: Rows): void {
    for (const [entity, rows] of others.#byEntity) this.of(entity).push(...rows);
  }

  of<T extends object>(entity: EntityClass<T>): T[] {
    const rows = this.#byEntity.get(entity) ?? [];
    this.#byEntity.set(entity, rows);
    return rows as T[];
  }
}

/** Inserts all rows, parents first. */
export async function insertRows(em: EntityManager, rows: Rows): Promise<void> {
  for (const entity of entities as EntityClass<object>[]) {
    const list = rows.of(entity);
    for (let at = 0; at < list.length; at += CHUNK) await em.insertMany(entity, list.slice(at, at + CHUNK));
  }
}
