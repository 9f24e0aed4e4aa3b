import type pg from 'pg';
import { findPublishedTable } from '../../entities/published.ts';
import { findCountedList, totalTriggerNames } from '../database/write/list-counters.ts';

/** A unique index, primary keys included. */
export interface UniqueIndex {
  /** Columns or expressions, as SQL over the table's bare column names. */
  keys: string[];
  /** Columns that the keys use, quoted as in the mapping. */
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

/** Constraints, indexes and triggers of a table. */
export interface Catalog {
  uniques: UniqueIndex[];
  checks: CheckConstraint[];
  /** Columns of any index, quoted. */
  indexed: Set<string>;
  /** Whether the table has triggers, other than foreign keys, that a bulk load would skip. */
  triggers: boolean;
}

const toColumnNamesSql = (table: string, numbers: string) =>
  `array(select format('"%s"', attname) from pg_attribute where attrelid = ${table} and attnum = any(${numbers}) order by attnum)`;

/** Columns that an index with an expression uses. */
const EXPRESSION_COLUMNS = `array(select refobjsubid::int2 from pg_depend
  where objid = indexrelid and refobjid = indrelid and refobjsubid > 0)`;

/** Reads the catalog of a table from the database, because migrations may create indexes that entities cannot declare. */
export async function readCatalog(client: pg.ClientBase, table: string): Promise<Catalog> {
  const indexes = await client.query<UniqueIndex & { unique: boolean }>(
    `select indisunique as "unique", indnullsnotdistinct as "nullsNotDistinct", pg_get_expr(indpred, indrelid) as predicate,
       array(select pg_get_indexdef(indexrelid, n, true) from generate_series(1, indnkeyatts) n) as keys,
       ${toColumnNamesSql('indrelid', `case when 0 = any(indkey) then ${EXPRESSION_COLUMNS} else indkey[0:indnkeyatts - 1] end`)}::text[] as columns
     from pg_index where indrelid = $1::regclass order by indexrelid`,
    [table],
  );
  const checks = await client.query<CheckConstraint>(
    `select conname as name, pg_get_expr(conbin, conrelid) as expression, ${toColumnNamesSql('conrelid', 'conkey')}::text[] as columns
     from pg_constraint where contype = 'c' and conrelid = $1::regclass order by conname`,
    [table],
  );
  // The import counts list totals, records changes and takes rows out of orders of changes itself, so those triggers may be skipped.
  const counted = findCountedList(table);
  const published = findPublishedTable(table)?.triggers ?? [];
  const triggers = await client.query(
    `select from pg_trigger where tgrelid = $1::regclass and not tgisinternal and tgenabled <> 'A' and tgname <> all($2)
       and tgfoid <> 'reset_listed_at'::regproc`,
    [table, [...(counted ? totalTriggerNames(counted) : []), ...published]],
  );
  return {
    uniques: indexes.rows.filter(({ unique }) => unique),
    checks: checks.rows,
    indexed: new Set(indexes.rows.flatMap(({ columns }) => columns)),
    triggers: triggers.rowCount! > 0,
  };
}
