import type pg from 'pg';
import { findCountedList, totalTriggerNames } from '../database/write/list-counters.ts';

/** A unique index, primary keys included. */
export interface UniqueIndex {
  /** Columns or expressions, as SQL over the table's bare column names. */
  keys: string[];
  /** Columns that the keys name, quoted as in the plan. */
  columns: string[];
  /** Condition of a partial index. */
  predicate: string | null;
  nullsNotDistinct: boolean;
}

export interface CheckConstraint {
  name: string;
  columns: string[];
  /** SQL over the table's bare column names. */
  expression: string;
}

/** What the database itself holds a table's rows to. */
export interface Catalog {
  uniques: UniqueIndex[];
  checks: CheckConstraint[];
  /** Columns that stand in any index. */
  indexed: Set<string>;
  /** Whether the table has triggers, beyond those of its foreign keys, that would not run in a bulk load. */
  triggers: boolean;
}

const attributes = (table: string, numbers: string) =>
  `array(select format('"%s"', attname) from pg_attribute where attrelid = ${table} and attnum = any(${numbers}) order by attnum)`;

/** Read from the database rather than from the entities, which cannot tell every index that a migration may make. */
export async function readCatalog(client: pg.ClientBase, table: string): Promise<Catalog> {
  const indexes = await client.query<UniqueIndex & { unique: boolean }>(
    `select indisunique as "unique", indnullsnotdistinct as "nullsNotDistinct", pg_get_expr(indpred, indrelid) as predicate,
       array(select pg_get_indexdef(indexrelid, n, true) from generate_series(1, indnkeyatts) n) as keys,
       ${attributes('indrelid', 'indkey[0:indnkeyatts - 1]')}::text[] as columns
     from pg_index where indrelid = $1::regclass order by indexrelid`,
    [table],
  );
  const checks = await client.query<CheckConstraint>(
    `select conname as name, pg_get_expr(conbin, conrelid) as expression, ${attributes('conrelid', 'conkey')}::text[] as columns
     from pg_constraint where contype = 'c' and conrelid = $1::regclass order by conname`,
    [table],
  );
  // The totals that these keep are counted by the load itself.
  const counted = findCountedList(table);
  const triggers = await client.query(
    `select from pg_trigger where tgrelid = $1::regclass and not tgisinternal and tgenabled <> 'A' and tgname <> all($2)`,
    [table, counted ? totalTriggerNames(counted) : []],
  );
  return {
    uniques: indexes.rows.filter(({ unique }) => unique),
    checks: checks.rows,
    indexed: new Set(indexes.rows.flatMap(({ columns }) => columns)),
    triggers: triggers.rowCount! > 0,
  };
}
