import { escapeLiteral } from 'pg';
import type { Catalog, UniqueIndex } from './catalog.ts';
import type { Column, FileMapping } from './file-mapping.ts';
import { formatColumns, INTO_PROBLEMS, toCandidatesSql } from './statements.ts';

/** A unique index over columns of the file. Indexes over generated columns are not checked. */
export interface UniqueKey {
  /** Whether it identifies the rows, so that a match in the database is an update. */
  isKey: boolean;
  /** SQL literals: the field of a problem, and the fields and condition in its message. */
  field: string;
  fields: string;
  condition: string;
  /** Alias of each key in the statements, and its SQL over unqualified column names. */
  keys: { name: string; sql: string; nullsMeet: boolean }[];
  predicate: string;
}

export function findUniqueKeys(mapping: FileMapping, { uniques }: Catalog): UniqueKey[] {
  const columnsByName = new Map(mapping.columns.map((column) => [column.name, column]));
  return uniques
    .filter(({ columns }) => columns.every((name) => columnsByName.has(name)))
    .map((unique) => toUniqueKey(mapping, unique, columnsByName));
}

function toUniqueKey(
  mapping: FileMapping,
  { keys, columns, predicate, nullsNotDistinct }: UniqueIndex,
  columnsByName: Map<string, Column>,
) {
  const keyColumns = columns.map((name) => columnsByName.get(name)!);
  const isReference = (column: Column) => mapping.references.some((reference) => reference.column === column);
  // Problems are reported for the last column that is not a reference.
  const messageColumn = keyColumns.findLast((column) => !isReference(column)) ?? keyColumns.at(-1) ?? mapping.key[0]!;
  const isKey =
    predicate === null &&
    keyColumns.length === mapping.key.length &&
    keyColumns.every((column) => mapping.key.includes(column));
  return {
    isKey,
    field: escapeLiteral(messageColumn.field),
    fields: escapeLiteral(keyColumns.map(({ field }) => field).join(', ') || keys.join(', ')),
    condition: escapeLiteral(predicate === null ? '' : ` (unique where ${predicate})`),
    keys: keys.map((sql, index) => {
      const column = columnsByName.get(sql) ?? columnsByName.get(`"${sql}"`);
      return { name: `u${index}`, sql, nullsMeet: nullsNotDistinct && column?.nullable === true };
    }),
    predicate: predicate === null ? '' : `where ${predicate}`,
  };
}

const toSelectList = ({ keys }: UniqueKey) => keys.map(({ name, sql }) => `(${sql}) as ${name}`).join(', ');
const toNameList = ({ keys }: UniqueKey) => keys.map(({ name }) => name).join(', ');

/**
 * Returns the condition of a join by the key. Uses equality where nulls are distinct, because `is not distinct from` prevents hash joins.
 */
const toUniqueJoin = ({ keys }: UniqueKey, left: string, right: string) =>
  keys
    .map(({ name, nullsMeet }) => `${left}.${name} ${nullsMeet ? 'is not distinct from' : '='} ${right}.${name}`)
    .join(' and ');

/** An index entry of PostgreSQL has at most about 2,700 bytes in total. */
const MAX_KEY_BYTES = 2600;

/** Returns SQL that finds rows whose unique key does not fit into an index entry of PostgreSQL, although each of its values does. */
export const toLongKeyProblemsSql = ({ field, fields, keys, predicate }: UniqueKey): string =>
  `${INTO_PROBLEMS} select __line, ${field}, format('has %s of more than ${MAX_KEY_BYTES} bytes in all', ${fields}) from import_stage
    where octet_length(concat(${keys.map(({ sql }) => `(${sql})`).join()})) > ${MAX_KEY_BYTES} ${predicate.replace('where', 'and')}`;

/** Returns SQL that finds rows of the file with the unique key of an earlier line. */
export function toDuplicateProblemsSql(uniqueKey: UniqueKey): string {
  const present = uniqueKey.keys.filter(({ nullsMeet }) => !nullsMeet).map(({ name }) => `${name} is not null`);
  return `${INTO_PROBLEMS}
    with keyed as (select __line, ${toSelectList(uniqueKey)} from import_stage ${uniqueKey.predicate})
    select s.__line, ${uniqueKey.field}, format('has the same %s as line %s%s', ${uniqueKey.fields}, r.first, ${uniqueKey.condition})
    from (select ${toNameList(uniqueKey)}, min(__line) as first from keyed where ${['true', ...present].join(' and ')}
      group by ${toNameList(uniqueKey)} having count(*) > 1) r
    join keyed s on ${toUniqueJoin(uniqueKey, 'r', 's')} where s.__line > r.first`;
}

/** Returns SQL that makes rows of a pass wait whose unique key still belongs to another record of the database. */
export function toWaitingRowsSql(mapping: FileMapping, uniqueKey: UniqueKey, pass: number): string {
  const key = (alias: string) => formatColumns(alias, mapping.key);
  const holder = mapping.key.map(({ name }) => `t.${name}`).join(` || ', ' || `);
  const message = 'has the same %s as %s, which is in the database%s';
  return `insert into import_waiting (line, pass, field, message)
    select s.__line, ${pass}, ${uniqueKey.field}, format('${message}', ${uniqueKey.fields}, ${holder}, ${uniqueKey.condition})
    from (select __line, ${key('c')}, ${toSelectList(uniqueKey)} from ${toCandidatesSql(pass)} c ${uniqueKey.predicate}) s
    join (select ${key('h')}, ${toSelectList(uniqueKey)} from ${mapping.table} h ${uniqueKey.predicate}) t on ${toUniqueJoin(uniqueKey, 's', 't')}
    where (${key('t')}) is distinct from (${key('s')})`;
}
