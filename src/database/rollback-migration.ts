import type { Migration } from '@mikro-orm/migrations';
import type { Database } from './database.ts';
import { migrations } from './migrations/index.ts';

/** Number of rows of a table, or of values of a column, that a rollback destroys. */
interface DataLoss {
  table: string;
  /** Null for the whole table. */
  column: string | null;
  rows: number;
}

/** The newest applied migration, and the data that its rollback destroys. */
export interface RollbackPlan {
  migration: string;
  losses: DataLoss[];
}

/** Properties of a migration whose tables or columns are derived from others, so that their loss is no data loss. */
interface DerivedData {
  readonly derivedTables?: readonly string[];
  /** Columns of any table. */
  readonly derivedColumns?: readonly string[];
}

const TABLE = '(?:"?public"?\\.)?"?(\\w+)"?';
const DROP_TABLE = new RegExp(
  `\\b(?:drop table(?: if exists)?|truncate(?: table)?|delete from) ((?:${TABLE}(?:, )?)+)`,
  'gi',
);
const ALTER_TABLE = new RegExp(`\\balter table(?: if exists)?(?: only)? ${TABLE} ([^;]*)`, 'gi');
const CHANGE_COLUMN = /\b(?:drop column(?: if exists)? "?(\w+)"?|alter column "?(\w+)"?(?: set data)? type)/gi;

/** Returns the tables that the SQL drops or empties, and the columns that it drops or converts. */
export function parseDestructiveChanges(sql: string): Omit<DataLoss, 'rows'>[] {
  const tables = [...sql.matchAll(DROP_TABLE)].flatMap(([, names]) =>
    names!.split(', ').map((name) => ({
      table: name
        .replace(/^"?public"?\./, '')
        .replaceAll('"', '')
        .trim(),
      column: null,
    })),
  );
  const columns = [...sql.matchAll(ALTER_TABLE)].flatMap(([, table, actions]) =>
    [...actions!.matchAll(CHANGE_COLUMN)].map(([, dropped, converted]) => ({
      table: table!,
      column: (dropped ?? converted)!,
    })),
  );
  return [...tables, ...columns];
}

// A start need not create MikroORM for these, which takes long. Without names, so that they pass poolers that change sessions.
const FIND_TABLE = { name: '', text: `select to_regclass('mikro_orm_migrations')::text` };
const SELECT_APPLIED = { name: '', text: 'select name from mikro_orm_migrations order by id' };

/** Returns the names of the applied migrations, oldest first. Works on a read-only database too. */
export async function findAppliedMigrations({ runner }: Database): Promise<string[]> {
  const [found] = await runner.run(FIND_TABLE, []);
  if (found![0] === null) return [];
  return (await runner.run(SELECT_APPLIED, [])).map(([name]) => name!);
}

/** Returns what rolling back the newest migration would do; null when none is applied. */
export async function planRollback(database: Database): Promise<RollbackPlan | null> {
  const name = (await findAppliedMigrations(database)).at(-1);
  if (name === undefined) return null;
  const found = migrations.find((migration) => migration.name === name);
  if (!found) throw new Error(`The database has the migration ${name}, which this release does not know.`);
  const { em, config } = database.orm;
  const migration: Migration & DerivedData = new found(em.getDriver(), config);
  await migration.down();
  const losses: DataLoss[] = [];
  for (const { table, column } of migration.getQueries().flatMap((query) => parseDestructiveChanges(String(query)))) {
    if (migration.derivedTables?.includes(table) || migration.derivedColumns?.includes(column ?? '')) continue;
    const rows = await countRows(database, table, column);
    if (rows > 0) losses.push({ table, column, rows });
  }
  return { migration: name, losses };
}

/** Returns the number of rows, or of rows with a value in the column; 0 when the table or column does not exist. */
async function countRows(database: Database, table: string, column: string | null): Promise<number> {
  return database.transaction(async (em) => {
    await em.execute('set local statement_timeout = 0');
    const [present] = await em.execute<{ exists: boolean }[]>(
      `select exists (select from information_schema.columns
         where table_schema = 'public' and table_name = ? and column_name = coalesce(?, column_name)) as exists`,
      [table, column],
    );
    if (!present!.exists) return 0;
    const [counted] = await em.execute<{ count: number }[]>(
      `select count(${column === null ? '*' : `"${column}"`})::float8 as count from public."${table}"`,
    );
    return counted!.count;
  });
}
