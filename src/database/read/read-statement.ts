import { createHash } from 'node:crypto';
import type { Statement } from '../pool/pg-pipeline.ts';
import type { Columns, RowShape } from './row-shape.ts';

export interface ReadDeclaration<Filter extends string> extends Columns {
  /** Joins from the row `t` to what the columns need. They must not drop or multiply rows. */
  joins?: string;
  /**
   * SQL condition over `t` of each filter; `:name` stands for the filter's own value. It is text, or of the type that is written
   * behind its first use: `:expiresAfter::timestamptz`.
   */
  filters?: Record<Filter, string>;
  /** A condition that always holds. */
  always?: string;
  /** Order of lists. Default: `createdAt`, then `id` (LST-4). */
  order?: string;
  /**
   * Where the entity `KeepsTotal`, its column of the kind: rows need not be counted unless another filter is given than those
   * of the builder, the project and the kind.
   */
  totalBy?: 'status' | 'source';
  /** Whether nobody reads how many rows match in all. */
  uncounted?: boolean;
}

/**
 * What is read: a page with its total; the same far down a list, or where it has to be counted; the row of an id; all rows. Each
 * row begins with the number of the one who asked, from 1; a page's rows go on with its total, and are one of nothing else where
 * it holds none.
 */
export type Form = 'page' | 'deep' | 'one' | 'all';

export interface Prepared {
  /** Takes an array of text for each of the names: the value of each who asks. */
  statement: Statement;
  names: string[];
  form: Form;
  shape: RowShape;
}

type Declaration = ReadDeclaration<string>;

/** Whether the total over those filters is kept, and need not be counted. */
export function isTotalKept({ totalBy }: Declaration, filters: readonly string[]): boolean {
  if (!totalBy || filters.length === 0) return false;
  return filters.every((name) => name === 'builderId' || name === 'projectId' || name === totalBy);
}

export function prepareRead(
  name: string,
  form: Form,
  filters: readonly string[],
  shape: RowShape,
  declaration: Declaration,
): Prepared {
  const { text, names } = bind(sqlOf(form, filters, shape, declaration));
  return { statement: { name: statementName(name), text }, names, form, shape };
}

/** `:asked` stands for those who ask, by their numbers `q.n`. */
function sqlOf(form: Form, filters: readonly string[], shape: RowShape, declaration: Declaration): string {
  const { table } = shape;
  const { joins = '', always = 'true', order = 't.created_at, t.id' } = declaration;
  const conditions = filters.map((name) => declaration.filters![name]!);
  const matching = [always, ...conditions].join(' and ');
  const columns = shape.select(filters);
  if (form === 'one') {
    // True, and in no index: one that held all that is read would be searched from end to end while the table is small.
    const found = `t.id = :id::${shape.idType} and t.xmin <> '0' and ${matching}`;
    return `select q.n, ${columns} from :asked join ${table} t on ${found} ${joins}`;
  }
  if (form === 'all') {
    return `select q.n, ${columns} from :asked join ${table} t on ${matching} ${joins} order by q.n, ${order}`;
  }
  const counted = `:asked cross join lateral (${totalOf(filters, conditions, matching, table, declaration)}) c`;
  if (form === 'page') {
    const [askers, total] = declaration.uncounted ? [':asked', 'null'] : [counted, 'c.total'];
    const window = `select t.* from ${table} t where ${matching} order by ${order} limit :limit::int offset :offset::int`;
    return `select q.n, ${total}, ${columns} from ${askers} left join lateral (${window}) t on true ${joins}
      order by q.n, ${order}`;
  }
  // The ids are found in an index that holds all that is asked of it, from the end of the list that is nearer.
  return `select q.n, c.total, ${columns} from ${counted} left join lateral (
      (select t.id from ${table} t where ${matching} and :offset::int <= c.total / 2
        order by ${order} limit :limit::int offset :offset::int)
      union all
      (select t.id from ${table} t where ${matching} and :offset::int > c.total / 2 and :offset::int < c.total
        order by ${order.replaceAll(',', ' desc,')} desc limit greatest(least(:limit::int, c.total - :offset::int), 0)
        offset greatest(c.total - :offset::int - :limit::int, 0))
    ) w on true left join ${table} t on t.id = w.id ${joins} order by q.n, ${order}`;
}

function totalOf(
  filters: readonly string[],
  conditions: string[],
  matching: string,
  table: string,
  declaration: Declaration,
): string {
  if (!isTotalKept(declaration, filters)) return `select count(*) as total from ${table} t where ${matching}`;
  const list = table.replaceAll('"', "'");
  const where = conditions.join(' and ').replaceAll(`t.${declaration.totalBy}`, 't.kind');
  return `select coalesce(sum(t.added), 0)::bigint as total from list_total t where t.list = ${list} and ${where}`;
}

/**
 * `:name` to a column of those who ask. All arrive as text, and become what they are once for each, not once for each row: the
 * planner would carry the conversion to where the value is used, were it not for `offset 0`.
 */
function bind(sql: string): { text: string; names: string[] } {
  const types = new Map<string, string>();
  const text = sql.replace(/(?<!:):(?!asked\b)([a-zA-Z]+)(?:::(\w+(?:\[\])?))?/g, (_, name: string, type?: string) => {
    const known = types.get(name);
    if (known && type && type !== known) throw new Error(`:${name} is ${known} and ${type} in: ${sql}`);
    if (!known) types.set(name, type ?? 'text');
    return `q."${name}"`;
  });
  // There is no row without a column.
  if (types.size === 0) types.set('nothing', 'text');
  const names = [...types.keys()];
  const parameters = names.map((_, at) => `$${at + 1}::text[]`);
  const columns = names.map((name, at) => `v${at}::${types.get(name)} as "${name}"`);
  const asked = `(select n, ${columns.join(', ')} from unnest(${parameters.join(', ')}) with ordinality
    as asked(${names.map((_, at) => `v${at}`).join(', ')}, n) offset 0) q`;
  return { text: text.replace(':asked', () => asked).replace(/\s+/g, ' '), names };
}

/** PostgreSQL cuts the name of a statement after so many bytes, and takes two that begin alike for one. */
const MAX_NAME = 63;

/** Tells long texts apart in the names of statements. */
export function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

function statementName(name: string): string {
  if (name.length <= MAX_NAME) return name;
  const digest = shortDigest(name);
  return `${name.slice(0, MAX_NAME - digest.length - 1)}#${digest}`;
}
