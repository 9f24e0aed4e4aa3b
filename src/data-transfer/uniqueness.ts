import { escapeLiteral } from 'pg';
import type { Catalog, UniqueIndex } from './catalog.ts';
import type { Column, Plan } from './plan.ts';
import { candidates, INTO_PROBLEMS, listed } from './statements.ts';

/** A unique index over columns that the file carries; those of numbers that the database gives are of no concern. */
export interface Claim {
  /** Whether it is what the rows are known by, so that meeting a record of the database means updating it. */
  isKey: boolean;
  /** SQL of the field that a problem names, and of the end of its message. */
  field: string;
  fields: string;
  condition: string;
  /** Name of each key in the statements, and its SQL over the bare column names. */
  keys: { name: string; sql: string; nullsMeet: boolean }[];
  predicate: string;
}

export function claimsOf(plan: Plan, { uniques }: Catalog): Claim[] {
  const carried = new Map(plan.columns.map((column) => [column.name, column]));
  return uniques
    .filter(({ columns }) => columns.every((name) => carried.has(name)))
    .map((unique) => claimOf(plan, unique, carried));
}

function claimOf(
  plan: Plan,
  { keys, columns, predicate, nullsNotDistinct }: UniqueIndex,
  carried: Map<string, Column>,
) {
  const claimed = columns.map((name) => carried.get(name)!);
  const isReference = (column: Column) => plan.references.some((reference) => reference.column === column);
  // The field that tells the records of one parent apart is the one to look at.
  const telling = claimed.findLast((column) => !isReference(column)) ?? claimed.at(-1) ?? plan.key[0]!;
  const isKey =
    predicate === null && claimed.length === plan.key.length && claimed.every((column) => plan.key.includes(column));
  return {
    isKey,
    field: escapeLiteral(telling.field),
    fields: escapeLiteral(claimed.map(({ field }) => field).join(', ') || keys.join(', ')),
    condition: escapeLiteral(predicate === null ? '' : ` (one alone may have it where ${predicate})`),
    keys: keys.map((sql, index) => {
      const column = carried.get(sql) ?? carried.get(`"${sql}"`);
      return { name: `u${index}`, sql, nullsMeet: nullsNotDistinct && column?.nullable === true };
    }),
    predicate: predicate === null ? '' : `where ${predicate}`,
  };
}

const selected = ({ keys }: Claim) => keys.map(({ name, sql }) => `(${sql}) as ${name}`).join(', ');
const names = ({ keys }: Claim) => keys.map(({ name }) => name).join(', ');

/** Plain equality wherever nulls cannot meet, because nothing else can be hashed. */
const same = ({ keys }: Claim, left: string, right: string) =>
  keys
    .map(({ name, nullsMeet }) => `${left}.${name} ${nullsMeet ? 'is not distinct from' : '='} ${right}.${name}`)
    .join(' and ');

/** Rows of the file that claim what an earlier line has claimed. */
export function repeats(claim: Claim): string {
  const present = claim.keys.filter(({ nullsMeet }) => !nullsMeet).map(({ name }) => `${name} is not null`);
  return `${INTO_PROBLEMS}
    with claims as (select __line, ${selected(claim)} from exchange_stage ${claim.predicate})
    select s.__line, ${claim.field}, format('has the same %s as line %s%s', ${claim.fields}, r.first, ${claim.condition})
    from (select ${names(claim)}, min(__line) as first from claims where ${['true', ...present].join(' and ')}
      group by ${names(claim)} having count(*) > 1) r
    join claims s on ${same(claim, 'r', 's')} where s.__line > r.first`;
}

/** Makes the rows of a pass wait whose claim is held by another record of the database as yet. */
export function conflicts(plan: Plan, claim: Claim, pass: number): string {
  const key = (alias: string) => listed(alias, plan.key);
  const holder = plan.key.map(({ name }) => `t.${name}`).join(` || ', ' || `);
  const message = 'has the same %s as %s, which is in the database%s';
  return `insert into exchange_waiting (line, pass, field, message)
    select s.__line, ${pass}, ${claim.field}, format('${message}', ${claim.fields}, ${holder}, ${claim.condition})
    from (select __line, ${key('c')}, ${selected(claim)} from ${candidates(pass)} c ${claim.predicate}) s
    join (select ${key('h')}, ${selected(claim)} from ${plan.table} h ${claim.predicate}) t on ${same(claim, 's', 't')}
    where (${key('t')}) is distinct from (${key('s')})`;
}
