import type { Database } from '../../src/database/database.ts';

/** Returns every row of every table as text. */
export async function readAllRows(database: Database): Promise<string> {
  const tables = await database
    .fork()
    .execute<{ name: string }[]>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
  const select = ({ name }: { name: string }) => `select row_to_json(t)::text as row from "${name}" t`;
  const rows = await database.fork().execute<{ row: string }[]>(tables.map(select).join(' union all '));
  return rows.map(({ row }) => row).join('\n');
}
