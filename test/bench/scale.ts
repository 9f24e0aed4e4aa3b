import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import type { Stage } from './stage.ts';
import { markdown } from './table.ts';

/** Written by test/database/builder-statements.test.ts, which judges each statement by its text. */
const STATEMENTS = new URL('../../../test/samples/builder-statements.txt', import.meta.url);

/** Tables that belong to no row of the service, and partitions of the event log. */
const TABLES = `from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  and c.relname !~ '^mikro_orm'`;

/** Whether a relation has the builder's id: of the table builder it is the row's own. */
const NAMES_BUILDER = `a.attname = case c.relname when 'builder' then 'id' else 'builder_id' end`;

interface Row {
  name: string;
  named: boolean;
}

/** Which tables, unique indexes, prepared reads and writes name the builder, as a distribution by builder requires. */
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
  const [reads, writes] = [readStatements('read'), readStatements('write')];
  const kinds = { tables, 'unique indexes': indexes, 'prepared reads': reads, writes };
  const counts = markdown(
    ['', 'name the builder', 'do not', 'together'],
    Object.entries(kinds).map(([kind, rows]) => {
      const named = rows.filter((row) => row.named).length;
      return [kind, String(named), String(rows.length - named), String(rows.length)];
    }),
  );
  const list = (title: string, rows: Row[], named: boolean) => {
    const items = rows.filter((row) => row.named === named).map(({ name }) => `- \`${name}\`\n`);
    return `${title}:\n\n${items.join('')}`;
  };
  const text = [
    `${counts}\n`,
    list('Tables without a column of the builder', tables, false),
    list('Unique indexes without it', indexes, false),
    list('Prepared reads that do not name it', reads, false),
    list('Writes that do not name it', writes, false),
    list('Prepared reads that name it', reads, true),
    list('Writes that name it', writes, true),
  ].join('\n');
  await publish(options, kinds, text);
}

/** Returns the statements of the snapshot: prepared ones by name, those of MikroORM by table. */
const readStatements = (kind: 'read' | 'write'): Row[] =>
  [...readFileSync(STATEMENTS, 'utf8').matchAll(/^(\w+) (names|lacks) (.+)$/gm)]
    .filter(([, ofKind]) => ofKind === kind)
    .map(([, , judgement, name]) => ({ name: name!, named: judgement === 'names' }));
