import { escapeLiteral } from 'pg';
import type { CountedList } from '../../entities/list-total.entity.ts';
import { findCountedList, toCounterInsertSql } from '../database/write/list-counters.ts';
import type { CheckConstraint } from './catalog.ts';
import type { Column, Plan, Reference } from './plan.ts';
import { DEFAULT } from './rows.ts';

/*
 * The SQL of an import. `exchange_stage` holds the rows of the file under way beside their line and whether they were
 * good in themselves; `exchange_problem` what the database then found; `exchange_waiting` rows whose unique values
 * another record still holds; `exchange_refused` the ids of bad rows of every file, for their children; `exchange_touched` the
 * records that are to be looked at as a whole in the end, and the first line that has to do with each.
 */

export const createTables = `
  create temp table exchange_problem (line bigint, field text, message text) on commit drop;
  create temp table exchange_waiting (line bigint, pass int, field text, message text) on commit drop;
  create temp table exchange_refused (file text, id text, line bigint, primary key (file, id)) on commit drop;
  create temp table exchange_touched (whole text, id text, file text, line bigint, primary key (whole, id)) on commit drop`;

export const clearTables = 'drop table exchange_stage; truncate exchange_problem, exchange_waiting';

export function createStage({ columns }: Plan): string {
  const cells = columns.map((column) => {
    const otherwise = column.default === null ? '' : ` default ${column.default}`;
    return `${column.name} ${column.type.sql}${otherwise}`;
  });
  return `create temp table exchange_stage (__line bigint, __ok boolean, ${cells.join(', ')}) on commit drop`;
}

export const copyToStage = `copy exchange_stage from stdin (default ${escapeLiteral(DEFAULT)})`;

export const INTO_PROBLEMS = 'insert into exchange_problem (line, field, message)';

/** Whether nothing was found against a staged row so far. */
const good = (row: string) =>
  `${row}.__ok and not exists (select from exchange_problem p where p.line = ${row}.__line)`;

/** Rows of a pass of writing: first all good ones, then those that still waited after the pass before. */
export const candidates = (pass: number) =>
  pass === 0
    ? `(select * from exchange_stage r where ${good('r')})`
    : `(select * from exchange_stage where __line in (select line from exchange_waiting where pass = ${pass - 1}))`;

const on = (left: string, right: string, columns: Column[]) =>
  columns.map(({ name }) => `${left}.${name} = ${right}.${name}`).join(' and ');
export const listed = (alias: string, columns: Column[]) => columns.map(({ name }) => `${alias}.${name}`).join(', ');

/** Takes the locks that foreign key triggers would take, once per parent instead of once per row. */
export function lockParents({ column, parent }: Reference): string {
  const id = parent.key[0]!.name;
  return `select count(*) from (select from ${parent.table} p
    where p.${id} in (select distinct ${column.name} from exchange_stage) for key share) locked`;
}

/** Foreign keys that lead nowhere or to another builder's record, and records that would change their builder. */
export function referenceProblems(plan: Plan): string | null {
  const { owner, table, key } = plan;
  const parents = plan.references.map((reference, index) => parentOf(plan, reference, index));
  // A row without a builder of its own belongs to that of its first parent that has one.
  const ownOwner = owner ? `s.${owner.name}` : parents.find((parent) => parent.owner)?.owner;
  const joins = parents.map(({ join }) => join);
  const moves = owner && !key.includes(owner) ? owner : null;
  if (moves) joins.push(`left join ${table} t on ${on('t', 's', key)}`);
  const cases = parents.map(({ column, given, file, found, ...parent }) => {
    const whens = [`when ${given} is null then null when ${found} is null then ${missing(given, file)}`];
    if (parent.owner && ownOwner) {
      whens.push(`when ${parent.owner} <> ${ownOwner} then ${given} || ' belongs to another builder'`);
    }
    if (column === moves) {
      const kept = `'is ' || t.${moves.name} || ' in the database, and a record never changes its builder'`;
      whens.push(`when t.${moves.name} <> ${given} then ${kept}`);
    }
    return oneCase(column.field, `case ${whens.join(' ')} end`);
  });
  plan.links.forEach(({ column, parent }, index) => {
    const id = `p.${parent.key[0]!.name}`;
    const foreign = ownOwner && parent.owner ? `or p.${parent.owner.name} <> ${ownOwner}` : '';
    joins.push(`left join lateral (select x.id, ${id} as found from unnest(s.${column.name}) x(id)
      left join ${parent.table} p on ${id} = x.id where ${id} is null ${foreign} limit 1) l${index} on true`);
    cases.push(
      oneCase(
        column.field,
        `case when l${index}.found is not null then l${index}.id || ' belongs to another builder'
          when l${index}.id is not null then ${missing(`l${index}.id`, parent.file)} end`,
      ),
    );
  });
  return cases.length === 0 ? null : problemsOf(`exchange_stage s ${joins.join(' ')}`, cases);
}

/** How a reference's parent is joined, and the SQL of its id when it is found and of its builder. */
function parentOf(plan: Plan, { column, parent }: Reference, index: number) {
  const id = parent.key[0]!.name;
  const owner = parent.owner?.name;
  const given = `s.${column.name}`;
  const join = `left join ${parent.table} p${index} on p${index}.${id} = ${given}`;
  const common = { column, given, file: parent.file };
  if (parent !== plan) {
    return { ...common, join, found: `p${index}.${id}`, owner: owner && `p${index}.${owner}` };
  }
  const sameFile = `(select ${id} as id ${owner ? `, min(${owner}) as owner` : ''} from exchange_stage group by ${id})`;
  return {
    ...common,
    join: `${join} left join ${sameFile} q${index} on q${index}.id = ${given}`,
    found: `coalesce(p${index}.${id}, q${index}.id)`,
    owner: owner && `coalesce(q${index}.owner, p${index}.${owner})`,
  };
}

const oneCase = (field: string | null, message: string) =>
  `(${field === null ? 'null' : escapeLiteral(field)}, ${message})`;

function problemsOf(from: string, cases: string[]): string {
  return `${INTO_PROBLEMS} select __line, v.field, v.message from ${from}
    cross join lateral (values ${cases.join(', ')}) v(field, message) where v.message is not null`;
}

const missing = (id: string, file: string) =>
  `coalesce((select format('%s was refused (%s line %s)', r.id, r.file, r.line) from exchange_refused r
    where r.file = ${escapeLiteral(file)} and r.id = ${id}), ${id} || ' does not exist')`;

/** Check constraints, before one of them would end the whole import. */
export function checkProblems(plan: Plan, checks: CheckConstraint[]): string | null {
  const cases = checks.map(({ name, columns, expression }) => {
    const field = plan.columns.find((column) => columns.includes(column.name))?.field ?? null;
    const message = escapeLiteral(`breaks the rule ${name}`);
    return oneCase(field, `case when not (${expression}) then ${message} end`);
  });
  return cases.length === 0 ? null : problemsOf('exchange_stage', cases);
}

/** Children in a self-referencing file whose parent is new and bad. To be repeated until it finds none. */
export function orphans(plan: Plan, { column, parent }: Reference): string {
  const id = parent.key[0]!.name;
  return `${INTO_PROBLEMS} select s.__line, ${escapeLiteral(column.field)}, s.${column.name} || ' was refused'
    from exchange_stage s where s.${column.name} is not null and ${good('s')}
      and not exists (select from ${plan.table} t where t.${id} = s.${column.name})
      and not exists (select from exchange_stage q where q.${id} = s.${column.name} and ${good('q')})`;
}

/**
 * Writes the rows of a pass that do not wait; rows that change nothing are left alone.
 * In the order of the file, because neighbours there are neighbours in the indexes too.
 */
export function upsert(plan: Plan, pass: number): string {
  const names = plan.columns.map(({ name }) => name).join(', ');
  const changing = plan.columns.filter((column) => !plan.key.includes(column));
  const first = plan.key[0]!.name;
  const list = findCountedList(plan.table);
  // A row without a file leaves the record the one that it has.
  const values = plan.columns
    .map(({ name, keeps }) => (keeps ? `coalesce(s.${name}, t.${name})` : `s.${name}`))
    .join(', ');
  const action =
    changing.length === 0
      ? 'nothing'
      : `update set ${changing.map(({ name }) => `${name} = excluded.${name}`).join(', ')}`;
  return `with written as (
      insert into ${plan.table} (${names})
      select ${values} from ${candidates(pass)} s left join ${plan.table} t on ${on('t', 's', plan.key)}
      where (t.${first} is null or (${listed('t', plan.columns)}) is distinct from (${values}))
        and not exists (select from exchange_waiting w where w.line = s.__line and w.pass = ${pass})
      order by s.__line
      on conflict (${plan.key.map(({ name }) => name).join(', ')}) do ${action}
      returning old.${first} is null as fresh ${list ? changedColumns(list) : ''})${list ? `, counted as (${countWritten(list)})` : ''}
    select (count(*) filter (where fresh))::int as inserted, (count(*) filter (where not fresh))::int as updated from written`;
}

const countedColumns = ({ kind, active }: CountedList) => [
  ...['builder_id', 'project_id', kind],
  ...(active === 'true' ? [] : ['archived_at']),
];

/** What each written row was counted under before and is from now on. */
const changedColumns = (list: CountedList) =>
  countedColumns(list)
    .map((column) => `, old.${column} as old_${column}, new.${column} as new_${column}`)
    .join('');

function countWritten(list: CountedList): string {
  const versions = (version: string) =>
    countedColumns(list)
      .map((column) => `${version}_${column} as ${column}`)
      .join(', ');
  return toCounterInsertSql(
    list,
    `select ${versions('new')}, 1 as added from written union all select ${versions('old')}, -1 from written where not fresh`,
  );
}

export const giveUpWaiting = (pass: number) =>
  `${INTO_PROBLEMS} select distinct line, field, message from exchange_waiting where pass = ${pass}`;

/** How many problems the database found, and how many rows are bad for them alone. */
export const countFoundBad = `select count(*)::int as problems, count(distinct s.__line)::int as bad
  from exchange_problem p left join exchange_stage s on s.__line = p.line and s.__ok`;

/** Remembers the ids that children of later files will look for in vain. */
export function rememberRefused({ file, key }: Plan): string {
  const id = key[0]!.name;
  return `insert into exchange_refused select ${escapeLiteral(file)}, s.${id}, min(s.__line) from exchange_stage s
    where s.${id} is not null and not (${good('s')}) group by s.${id}`;
}

/** Remembers the records of the `whole` plan that the rows of this file are, or lead to by that column. */
export const rememberTouched = (plan: Plan, whole: Plan, { name }: Column) =>
  `insert into exchange_touched select ${escapeLiteral(whole.file)}, s.${name}, ${escapeLiteral(plan.file)}, min(s.__line)
    from exchange_stage s where s.${name} is not null and ${good('s')} group by s.${name} on conflict do nothing`;

/** Takes a few of them out, in their order. */
export const takeTouched = `delete from exchange_touched where (whole, id) in (
    select whole, id from exchange_touched where whole = $1 order by file desc, line limit $2)
  returning id, file, line::int`;
