import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import type { Stage } from './stage.ts';
import { markdown } from './table.ts';

const SNAPSHOT = new URL('../../../test/samples/plans.txt', import.meta.url);

/** Tables that belong to no row of the service, and partitions of the event log. */
const TABLES = `from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  and c.relname !~ '^mikro_orm'`;

/** Whether a relation has the builder's id: of the table builder it is the row's own. */
const NAMES_BUILDER = `a.attname = case c.relname when 'builder' then 'id' else 'builder_id' end`;

interface Row {
  name: string;
  named: boolean;
}

/** Which tables, unique indexes and prepared reads name the builder, as a distribution by builder requires. */
export async function scale(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(1);
  const client = new pg.Client({ connectionString: stage.urls.au1 });
  await client.connect();
  stage.defer(() => client.end());
  const query = async (sql: string) => (await client.query<Row>(sql)).rows;
  const tables = await query(`select c.relname as name,
    exists (select from pg_attribute a where a.attrelid = c.oid and ${NAMES_BUILDER} and not a.attisdropped) as named ${TABLES} order by 1`);
  const indexes = await query(`select i.indexrelid::regclass::text || ' (' || (
      select string_agg(a.attname, ', ' order by a.attnum) from pg_attribute a where a.attrelid = i.indexrelid) || ')' as name,
    exists (select from pg_attribute a where a.attrelid = c.oid and a.attnum = any(i.indkey) and ${NAMES_BUILDER}) as named
    from pg_index i join (select c.* ${TABLES}) c on c.oid = i.indrelid where i.indisunique order by 1`);
  const statements = readStatements();
  const kinds = { tables, 'unique indexes': indexes, 'prepared reads': statements };
  const counts = markdown(
    ['', 'name the builder', 'do not', 'together'],
    Object.entries(kinds).map(([kind, rows]) => {
      const named = rows.filter((row) => row.named).length;
      return [kind, String(named), String(rows.length - named), String(rows.length)];
    }),
  );
  const list = (rows: Row[]) =>
    rows
      .filter((row) => !row.named)
      .map(({ name }) => `- \`${name}\`\n`)
      .join('');
  const text = `${counts}\n\nTables without a column of the builder:\n\n${list(tables)}\nUnique indexes without it:\n\n${list(indexes)}\nPrepared reads that do not name it:\n\n${list(statements)}`;
  await publish(options, kinds, text);
}

/** Names of the snapshot of query plans. A name contains the filters; those of a caller's builders and of a builder's id name the builder. */
function readStatements(): Row[] {
  return readFileSync(SNAPSHOT, 'utf8')
    .split('\n')
    .filter((line) => /^\S/.test(line))
    .map((name) => ({ name, named: /[(,](builderId|reachable)\b/.test(name) || /^Builder[.~]/.test(name) }));
}
