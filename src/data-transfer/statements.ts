import { escapeLiteral } from 'pg';
import { changeLists } from '../../entities/change-list.ts';
import { type CountedList, countedColumns } from '../../entities/list-total.entity.ts';
import { findPublishedTable } from '../../entities/published.ts';
import { findCountedList, toCounterInsertSql } from '../database/write/list-counters.ts';
import type { CheckConstraint } from './catalog.ts';
import type { Column, FileMapping, Reference } from './file-mapping.ts';
import { DEFAULT } from './row-reader.ts';

/*
 * SQL of an import, which uses temporary tables:
 * - `import_stage`: rows of the current file, with their line and whether they are valid individually;
 * - `import_problem`: problems found by the database;
 * - `import_waiting`: rows whose unique values still belong to another record;
 * - `import_rejected`: ids of the invalid rows of every file, for messages about their children;
 * - `import_touched`: records to check with cross-record rules, with the first line that changed each.
 */

export const CREATE_TABLES = `
  create temp table import_problem (line bigint, field text, message text) on commit drop;
  create temp table import_waiting (line bigint, pass int, field text, message text) on commit drop;
  create temp table import_rejected (file text, id text, line bigint, primary key (file, id)) on commit drop;
  create temp table import_touched (rule_file text, id text, file text, line bigint, primary key (rule_file, id)) on commit drop`;

/** Empties what concerns one file; what later files need remains. */
export const CLEAR_TABLES = 'drop table import_stage; truncate import_problem, import_waiting';

export function toCreateStageSql({ columns }: FileMapping): string {
  const cells = columns.map((column) => {
    const defaultValue = column.default === null ? '' : ` default ${column.default}`;
    return `${column.name} ${column.type.sql}${defaultValue}`;
  });
  return `create temp table import_stage (__line bigint, __ok boolean, ${cells.join(', ')}) on commit drop`;
}

export const COPY_TO_STAGE = `copy import_stage from stdin (default ${escapeLiteral(DEFAULT)})`;

export const INTO_PROBLEMS = 'insert into import_problem (line, field, message)';

/** Returns the SQL condition that no problem was found in a staged row so far. */
const toValidCondition = (row: string) =>
  `${row}.__ok and not exists (select from import_problem p where p.line = ${row}.__line)`;

/** Returns SQL of the rows of a pass of writing: in the first pass all valid ones, then those that waited in the previous pass. */
export const toCandidatesSql = (pass: number) =>
  pass === 0
    ? `(select * from import_stage r where ${toValidCondition('r')})`
    : `(select * from import_stage where __line in (select line from import_waiting where pass = ${pass - 1}))`;

export const toJoinCondition = (left: string, right: string, columns: Column[]) =>
  columns.map(({ name }) => `${left}.${name} = ${right}.${name}`).join(' and ');
export const formatColumns = (alias: string, columns: Column[]) =>
  columns.map(({ name }) => `${alias}.${name}`).join(', ');

/** Returns SQL that takes the locks of foreign key triggers, once per parent instead of once per row. */
export function toLockParentsSql({ column, parent }: Reference): string {
  const id = parent.key[0]!.name;
  return `select count(*) from (select from ${parent.table} p
    where p.${id} in (select distinct ${column.name} from import_stage) for key share) locked`;
}

/** Returns SQL that finds foreign keys to missing records or to other builders' records, and records that would change their owner. */
export function toReferenceProblemsSql(mapping: FileMapping): string | null {
  const { builder, table, key } = mapping;
  const parents = mapping.references.map((reference, index) => joinParent(mapping, reference, index));
  // A row without a builder column belongs to the builder of its first parent that has one.
  const rowBuilder = builder ? `s.${builder.name}` : parents.find((parent) => parent.builder)?.builder;
  const joins = parents.map(({ join }) => join);
  // A record stays with its builder, and a page with its report.
  const owner = builder ?? mapping.references[0]?.column;
  const ownerChange = owner && !key.includes(owner) ? owner : null;
  if (ownerChange) joins.push(`left join ${table} t on ${toJoinCondition('t', 's', key)}`);
  const cases = parents.map(({ column, idSql, file, found, ...parent }) => {
    const whens = [`when ${idSql} is null then null when ${found} is null then ${toMissingMessage(idSql, file)}`];
    if (parent.builder && rowBuilder) {
      whens.push(`when ${parent.builder} <> ${rowBuilder} then ${idSql} || ' belongs to another builder'`);
    }
    if (column === ownerChange) {
      const message = `' in the database, and a record never changes its ${column.field.slice(0, -2)}'`;
      whens.push(`when t.${column.name} <> ${idSql} then 'is ' || t.${column.name} || ${message}`);
    }
    return toProblemCase(column.field, `case ${whens.join(' ')} end`);
  });
  mapping.listReferences.forEach(({ column, parent }, index) => {
    const id = `p.${parent.key[0]!.name}`;
    const foreign = rowBuilder && parent.builder ? `or p.${parent.builder.name} <> ${rowBuilder}` : '';
    joins.push(`left join lateral (select x.id, ${id} as found from unnest(s.${column.name}) x(id)
      left join ${parent.table} p on ${id} = x.id where ${id} is null ${foreign} limit 1) l${index} on true`);
    cases.push(
      toProblemCase(
        column.field,
        `case when l${index}.found is not null then l${index}.id || ' belongs to another builder'
          when l${index}.id is not null then ${toMissingMessage(`l${index}.id`, parent.file)} end`,
      ),
    );
  });
  return cases.length === 0 ? null : toProblemsSql(`import_stage s ${joins.join(' ')}`, cases);
}

/** Returns the join of a reference's parent, and SQL of the found id and of the parent's builder. */
function joinParent(mapping: FileMapping, { column, parent }: Reference, index: number) {
  const id = parent.key[0]!.name;
  const builder = parent.builder?.name;
  const idSql = `s.${column.name}`;
  const join = `left join ${parent.table} p${index} on p${index}.${id} = ${idSql}`;
  const common = { column, idSql, file: parent.file };
  if (parent !== mapping) {
    return { ...common, join, found: `p${index}.${id}`, builder: builder && `p${index}.${builder}` };
  }
  const sameFile = `(select ${id} as id ${builder ? `, min(${builder}) as builder` : ''} from import_stage group by ${id})`;
  return {
    ...common,
    join: `${join} left join ${sameFile} q${index} on q${index}.id = ${idSql}`,
    found: `coalesce(p${index}.${id}, q${index}.id)`,
    builder: builder && `coalesce(q${index}.builder, p${index}.${builder})`,
  };
}

const toProblemCase = (field: string | null, message: string) =>
  `(${field === null ? 'null' : escapeLiteral(field)}, ${message})`;

const toProblemsSql = (
  from: string,
  cases: string[],
): string => `${INTO_PROBLEMS} select __line, v.field, v.message from ${from}
    cross join lateral (values ${cases.join(', ')}) v(field, message) where v.message is not null`;

const toMissingMessage = (id: string, file: string) =>
  `coalesce((select format('%s was rejected (%s line %s)', r.id, r.file, r.line) from import_rejected r
    where r.file = ${escapeLiteral(file)} and r.id = ${id}), ${id} || ' does not exist')`;

/** Returns SQL that finds violations of check constraints, which would otherwise abort the import. */
export function toCheckProblemsSql(mapping: FileMapping, checks: CheckConstraint[]): string | null {
  // The stage has no columns that are not imported, such as the role of a staff user.
  const applicable = checks.filter(({ columns }) =>
    columns.every((name) => mapping.columns.some((column) => column.name === name)),
  );
  const cases = applicable.map(({ name, columns, expression }) => {
    // Of several columns the last one: others say whose record it is.
    const field = mapping.columns.findLast((column) => columns.includes(column.name))?.field ?? null;
    const message = escapeLiteral(`breaks the rule ${name}`);
    return toProblemCase(field, `case when not (${expression}) then ${message} end`);
  });
  return cases.length === 0 ? null : toProblemsSql('import_stage', cases);
}

/** Returns SQL that finds children of a self-referencing file whose parent is new and invalid. To be repeated until it finds none. */
export function toOrphanProblemsSql(mapping: FileMapping, { column, parent }: Reference): string {
  const id = parent.key[0]!.name;
  return `${INTO_PROBLEMS} select s.__line, ${escapeLiteral(column.field)}, s.${column.name} || ' was rejected'
    from import_stage s where s.${column.name} is not null and ${toValidCondition('s')}
      and not exists (select from ${mapping.table} t where t.${id} = s.${column.name})
      and not exists (select from import_stage q where q.${id} = s.${column.name} and ${toValidCondition('q')})`;
}

/** Returns SQL of whether no staged row is stored. */
export const toAllNewSql = ({ table, key }: FileMapping) =>
  `select not exists (select from import_stage s join ${table} t on ${toJoinCondition('t', 's', key)}) as "allNew"`;

/**
 * Returns SQL that writes the rows of a pass that do not wait and that differ from the stored ones. The order is that of the file, because
 * neighbouring rows are usually neighbours in the indexes too.
 *
 * @param allNew whether no row is stored. They need no `on conflict`, which costs a fifth of the processor time; one that another
 * transaction adds meanwhile is then an error
 * @param audit SQL of `toStoreAccessSql`
 */
export function toUpsertSql(
  mapping: FileMapping,
  pass: number,
  allNew: boolean,
  audit: { returning: string; cte: string },
): string {
  const names = mapping.columns.map(({ name }) => name).join(', ');
  const changing = mapping.columns.filter((column) => !mapping.key.includes(column));
  const first = mapping.key[0]!.name;
  const list = findCountedList(mapping.table);
  const published = findPublishedTable(mapping.table);
  // An absent value of such a column leaves the stored one unchanged.
  const values = mapping.columns
    .map(({ name, keepsStoredValue }) => (keepsStoredValue ? `coalesce(s.${name}, t.${name})` : `s.${name}`))
    .join(', ');
  const assignments = changing.map(({ name }) => `${name} = excluded.${name}`);
  if (published?.tracked) assignments.push('changed_at = clock_timestamp()');
  if (changeLists.has(mapping.table.replaceAll('"', ''))) assignments.push('listed_at = null');
  const action = changing.length === 0 ? 'nothing' : `update set ${assignments.join(', ')}`;
  const onConflict = allNew ? '' : `on conflict (${mapping.key.map(({ name }) => name).join(', ')}) do ${action}`;
  return `with written as (
      insert into ${mapping.table} (${names})
      select ${values} from ${toCandidatesSql(pass)} s left join ${mapping.table} t on ${toJoinCondition('t', 's', mapping.key)}
      where (t.${first} is null or (${formatColumns('t', mapping.columns)}) is distinct from (${values}))
        and not exists (select from import_waiting w where w.line = s.__line and w.pass = ${pass})
      order by s.__line
      ${onConflict}
      returning old.${first} is null as fresh ${list ? toChangedColumnsSql(list) : ''}${published?.bulk.returning ?? ''}${audit.returning})${
        list ? `, ${toCountersSql(list)}` : ''
      }${published ? `, published as (${published.bulk.toInsertSql('written', allNew)})` : ''}${audit.cte}
    select (count(*) filter (where fresh))::int as inserted, (count(*) filter (where not fresh))::int as updated from written`;
}

/** Returns SQL of the old and new values of the columns that list totals are counted by. */
const toChangedColumnsSql = (list: CountedList) =>
  countedColumns(list)
    .map((column) => `, old.${column} as old_${column}, new.${column} as new_${column}`)
    .join('');

function toCountersSql(list: CountedList): string {
  const versions = (version: string) =>
    countedColumns(list)
      .map((column) => `${version}_${column} as ${column}`)
      .join(', ');
  return toCounterInsertSql(
    list,
    `select ${versions('new')}, 1 as added from written union all select ${versions('old')}, -1 from written where not fresh`,
  );
}

export const toWaitingProblemsSql = (pass: number) =>
  `${INTO_PROBLEMS} select distinct line, field, message from import_waiting where pass = ${pass}`;

/** SQL that counts the problems found by the database, and the rows that are invalid only because of them. */
export const COUNT_PROBLEMS = `select count(*)::int as problems, count(distinct s.__line)::int as bad
  from import_problem p left join import_stage s on s.__line = p.line and s.__ok`;

/** Returns SQL that stores the ids of invalid rows, for messages about children in later files. */
export function toRejectedIdsSql({ file, key }: FileMapping): string {
  const id = key[0]!.name;
  return `insert into import_rejected select ${escapeLiteral(file)}, s.${id}, min(s.__line) from import_stage s
    where s.${id} is not null and not (${toValidCondition('s')}) group by s.${id}`;
}

/** Returns SQL that stores which records of `target` the rows of this file are, or refer to by the column. */
export const toTouchedRecordsSql = (mapping: FileMapping, target: FileMapping, { name }: Column) =>
  `insert into import_touched select ${escapeLiteral(target.file)}, s.${name}, ${escapeLiteral(mapping.file)}, min(s.__line)
    from import_stage s where s.${name} is not null and ${toValidCondition('s')} group by s.${name} on conflict do nothing`;

/** SQL that removes and returns a batch of touched records. Parameters: file of the rule, batch size. */
export const TAKE_TOUCHED = `delete from import_touched where (rule_file, id) in (
    select rule_file, id from import_touched where rule_file = $1 order by file desc, line limit $2)
  returning id, file, line::int`;
