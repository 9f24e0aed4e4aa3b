import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { BenchEnvironment } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { publishFigures } from './publish-figures.ts';

/** Snapshot of test/database/builder-statements.test.ts: all statements, and whether their text refers to the builder. */
const SNAPSHOT = new URL('../../../test/samples/builder-statements.txt', import.meta.url);

/** All tables except those of MikroORM and the partitions of the event log. */
const TABLES = `from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  and c.relname !~ '^mikro_orm'`;

/** Condition for the column of the builder's id; in the table `builder` it is the primary key. */
const IS_BUILDER_COLUMN = `a.attname = case c.relname when 'builder' then 'id' else 'builder_id' end`;

/** A table, index or statement. The keys are those of `--json`. */
interface Row {
  name: string;
  /** Whether it refers to the builder. */
  named: boolean;
}

/** Counts the tables, unique indexes, prepared reads and writes that refer to the builder, as a distribution by builder requires. */
export async function countBuilderReferences(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  await environment.prepare(1);
  const client = new pg.Client({ connectionString: environment.urls.au1 });
  await client.connect();
  environment.onClose(() => client.end());
  const query = async (sql: string) => (await client.query<Row>(sql)).rows;
  const tables = await query(`select c.relname as name,
    exists (select from pg_attribute a where a.attrelid = c.oid and ${IS_BUILDER_COLUMN} and not a.attisdropped) as named ${TABLES} order by 1`);
  const indexes = await query(`select i.indexrelid::regclass::text || ' (' || (
      select string_agg(a.attname, ', ' order by a.attnum) from pg_attribute a where a.attrelid = i.indexrelid) || ')' as name,
    exists (select from pg_attribute a where a.attrelid = c.oid and a.attnum = any(i.indkey) and ${IS_BUILDER_COLUMN}) as named
    from pg_index i join (select c.* ${TABLES}) c on c.oid = i.indrelid where i.indisunique order by 1`);
  const [reads, writes] = [readStatements('read'), readStatements('write')];
  const kinds = { tables, 'unique indexes': indexes, 'prepared reads': reads, writes };
  const counts = toMarkdownTable(
    ['', 'name the builder', 'do not', 'together'],
    Object.entries(kinds).map(([kind, rows]) => {
      const named = rows.filter((row) => row.named).length;
      return [kind, String(named), String(rows.length - named), String(rows.length)];
    }),
  );
  const toList = (title: string, rows: Row[], isNamed: boolean) => {
    const items = rows.filter((row) => row.named === isNamed).map(({ name }) => `- \`${name}\`\n`);
    return `${title}:\n\n${items.join('')}`;
  };
  const text = [
    `${counts}\n`,
    toList('Tables without a column of the builder', tables, false),
    toList('Unique indexes without it', indexes, false),
    toList('Prepared reads that do not name it', reads, false),
    toList('Writes that do not name it', writes, false),
    toList('Prepared reads that name it', reads, true),
    toList('Writes that name it', writes, true),
  ].join('\n');
  await publishFigures(options, kinds, text);
}

/** Returns the statements of the snapshot: prepared statements by name, those of MikroORM by table. */
const readStatements = (kind: 'read' | 'write'): Row[] =>
  [...readFileSync(SNAPSHOT, 'utf8').matchAll(/^(\w+) (names|lacks) (.+)$/gm)]
    .filter(([, statementKind]) => statementKind === kind)
    .map(([, , reference, name]) => ({ name: name!, named: reference === 'names' }));
