import { createHash } from 'node:crypto';
import { type CountedList, countedLists } from '../../../entities/list-total.entity.ts';
import type { BatchStatement } from '../pool/statement-runner.ts';
import {
  type AppliedFilter,
  type FilterDefinition,
  isRange,
  isRangeOf,
  toComparedColumn,
  toConditionSql,
} from './filter.ts';
import type { ColumnOptions, RowMapper } from './row-mapper.ts';

export interface ReadOptions<Filter extends string> extends ColumnOptions {
  /** SQL joins from the row `t` to tables of the columns. They must not drop or multiply rows. */
  joins?: string;
  filters?: Record<Filter, FilterDefinition>;
  /** SQL condition over `t` of every read. */
  condition?: string;
  /** Column by which lists are ordered, before the id. Default: `created_at` (LST-4). */
  orderBy?: string;
  /** Skip the total count. */
  skipTotal?: boolean;
}

/**
 * Kind of a read: a page by offset (`page`), at a large offset (`deep`); a page by cursor, the `first` or the `next` one, or a next one that
 * counts the total (`counted`) or reads a range in the list's order (`ordered`); the row of an id; all rows. The first column of each row is
 * the number, from 1, of the batch element that it belongs to. The second column of a page is its total, and of a page by cursor its total
 * and the position of the row, separated by `|`. An empty page is one row with null in all further columns.
 */
export type ReadKind = 'page' | 'deep' | 'first' | 'next' | 'counted' | 'ordered' | 'one' | 'all';

export interface PreparedRead {
  statement: BatchStatement;
  /** Names of the parameters, in order. */
  parameterNames: string[];
  kind: ReadKind;
  mapper: RowMapper;
  /** Whether it may take long: rows are counted, skipped or sorted. */
  isSlow: boolean;
}

/** A read with its filters, and what its SQL is made of. */
interface ReadDefinition {
  kind: ReadKind;
  /** Whether the rows of a page are in the opposite of the list's order. */
  isDescending: boolean;
  filters: readonly AppliedFilter[];
  mapper: RowMapper;
  options: ReadOptions<string>;
}

interface Read extends ReadDefinition {
  /** The stored totals of the list; undefined where rows are always counted. */
  list: CountedList | undefined;
}

/** Returns a read as prepared statements. Those with the name '' are planned for each use. */
export function prepareRead(name: string, definition: ReadDefinition): PreparedRead {
  const { kind, mapper } = definition;
  const read: Read = { ...definition, list: countedLists.find(({ table }) => `"${table}"` === mapper.table) };
  const { text, singleText, names } = bindParameters(buildSql(read));
  const single = { name: toStatementName(name && `${name} of one`), text: singleText };
  const statement = { name: toStatementName(name), text, single };
  return { statement, parameterNames: names, kind, mapper, isSlow: isSlow(read) };
}

/** A large list is counted and sorted by stored totals and indexes, which have the rows of one status or source in the list's order. */
function isSlow(read: Read): boolean {
  const { kind, filters, list } = read;
  if (kind === 'one' || kind === 'all') return false;
  if (kind === 'deep' || filters.some(({ name }) => name === 'updatedSince')) return true;
  return list !== undefined && (!hasStoredTotal(read) || filters.some(({ isList }) => isList));
}

/** Whether the total with those filters is the sum of stored totals: by builder, project or parent, and by kind. */
function hasStoredTotal({ filters, list }: Pick<Read, 'filters' | 'list'>): boolean {
  if (!list || filters.length === 0) return false;
  const columns = filters.map(toComparedColumn);
  const parents = columns.filter((column) => column !== null && (column === list.project || column === list.parent));
  return parents.length <= 1 && columns.every((name) => ['builder_id', list.kindColumn, ...parents].includes(name!));
}

/** `:batch` is the table `q` of the batch elements, with their numbers `q.n`. */
function buildSql(read: Read): string {
  const { kind, isDescending, filters, mapper, options } = read;
  const { table } = mapper;
  const { joins = '', orderBy = 'created_at', skipTotal } = options;
  const order = toOrderSql(orderBy, isDescending);
  const columns = mapper.toSelectList(filters.map(({ name }) => name));
  if (kind === 'one') {
    // For each id by itself, because the planner would rather read a small table once for all, also for one id. `xmin` is always true and
    // in no index: it prevents a full scan of a covering index.
    const byId = `t.id = :id::${mapper.idType} and t.xmin <> '0' and ${toMatching(read)}`;
    return `select q.n, ${columns} from :batch cross join lateral (select t.* from ${table} t where ${byId} limit 1) t ${joins}`;
  }
  if (kind === 'all') {
    return `select q.n, ${columns} from :batch join ${table} t on ${toMatching(read)} ${joins} order by q.n, ${order}`;
  }
  const isCounted = !skipTotal && kind !== 'next' && kind !== 'ordered';
  const total = isCounted ? 'c.total' : 'null';
  const source = isCounted ? `:batch cross join lateral (${buildTotalSql(read)}) c` : ':batch';
  const value = kind === 'page' || kind === 'deep' ? total : `concat(${total}, '|', t.${orderBy}, '|', t.id)`;
  return `select q.n, ${value}, ${columns} from ${source} left join lateral ${buildWindowSql(read, order, isCounted)} ${joins}
    order by q.n, ${order}`;
}

/** An index has the rows in both orders. */
const toOrderSql = (column: string, isDescending: boolean) =>
  isDescending ? `t.${column} desc, t.id desc` : `t.${column}, t.id`;

/** Returns SQL of the rows `t` of a page, with the condition of their join. */
function buildWindowSql(read: Read, order: string, isCounted: boolean): string {
  const { kind, isDescending, mapper, options, list } = read;
  const { table, idType } = mapper;
  const { orderBy = 'created_at' } = options;
  const isAfterPosition = kind === 'next' || kind === 'counted' || kind === 'ordered';
  const where = [
    toMatching(read, true),
    // Nothing is searched for where the total says that nothing is there.
    ...(list && isCounted ? ['c.total > :offset::int'] : []),
    ...(isAfterPosition
      ? [`(t.${orderBy}, t.id) ${isDescending ? '<' : '>'} (:afterValue::timestamptz, :afterId::${idType})`]
      : []),
  ].join(' and ');
  const window = `order by ${order} limit :limit::int offset :offset::int`;
  const isFoundByRange = isReadByRange(read);
  if (!isFoundByRange && kind !== 'deep' && kind !== 'ordered') {
    return `(select t.* from ${table} t where ${where} ${window}) t on true`;
  }
  // The planner does not know the width of a range, and would rather read the list in its order until the page is full.
  const rows = isFoundByRange
    ? `(select t.${orderBy}, t.id from ${table} t where ${where} offset 0) t where true`
    : `${table} t where ${where}`;
  const isTotalKnown = kind === 'deep' && isCounted && hasStoredTotal(read);
  const ids = isTotalKnown
    ? `(select t.id from ${rows} and :offset::int <= c.total - :offset::int ${window}) union all (select t.id from ${rows}
        and :offset::int > c.total - :offset::int ${toWindowFromTheEnd(toOrderSql(orderBy, !isDescending))})`
    : `select t.id from ${rows} ${window}`;
  return `(${ids}) w on true left join ${table} t on t.id = w.id`;
}

/** The same rows, counted from the end of the list: the rows of its second half are nearer to it. */
const toWindowFromTheEnd = (opposite: string) =>
  `order by ${opposite} limit greatest(least(:limit::int, c.total - :offset::int), 0)
    offset greatest(c.total - :offset::int - :limit::int, 0)`;

/** Whether the rows of the page are found by the index of a range or search, and sorted. The index of a range has them in its own order. */
const isReadByRange = ({ kind, filters, options: { orderBy = 'created_at' } }: Read): boolean =>
  kind !== 'ordered' && filters.some((filter) => isRange(filter) && !isRangeOf(filter, orderBy));

/**
 * Returns the condition of the rows.
 *
 * @param inOrder whether they are read in the list's order. The planner does not know that a project has a small part of its builder's rows, and
 * may read those of the builder. As an expression the builder is compared in the rows of the project or parent.
 */
function toMatching(read: Read, inOrder = false): string {
  const { filters, mapper, options, list } = read;
  const columns = filters.map(toComparedColumn);
  const isOfParent = list && columns.some((column) => column && (column === list.project || column === list.parent));
  const operand = inOrder && isOfParent && !isReadByRange(read) ? `t.builder_id || ''` : undefined;
  const conditions = filters.map((filter, index) =>
    toConditionSql(filter, mapper.toColumnType, columns[index] === 'builder_id' ? operand : undefined),
  );
  return [options.condition ?? 'true', ...conditions].join(' and ');
}

function buildTotalSql(read: Read): string {
  const { filters, mapper, list } = read;
  if (!list || !hasStoredTotal(read))
    return `select count(*) as total from ${mapper.table} t where ${toMatching(read)}`;
  const isOfParent = filters.some((filter) => list.parent !== null && toComparedColumn(filter) === list.parent);
  const conditions = filters.map((filter) => {
    const column = toComparedColumn(filter)!;
    // Values of another type than text are compared as text.
    const kind = mapper.toColumnType(column) === 'text' ? 't.kind' : `t.kind::${mapper.toColumnType(column)}`;
    const operand = column === list.kindColumn ? kind : `t.${column === list.parent ? 'parent_id' : column}`;
    return toConditionSql(filter, mapper.toColumnType, operand);
  });
  const where = [`t.list = '${list.table}'`, ...(isOfParent ? [] : ['t.parent_id is null']), ...conditions].join(
    ' and ',
  );
  return `select coalesce(sum(t.added), 0)::bigint as total from list_total t where ${where}`;
}

/**
 * Replaces `:name` by a column of the table of batch elements, and `:batch` by that table. The values of several elements arrive as text.
 * `offset 0` makes PostgreSQL convert them once per batch element; it would otherwise move the cast to where the value is used, once per row.
 */
function bindParameters(sql: string): { text: string; singleText: string; names: string[] } {
  const types = new Map<string, string>();
  const bound = sql.replace(/(?<!:):(?!batch\b)([a-zA-Z]+)(?:::(\w+(?:\[\])?))?/g, (_, name: string, type?: string) => {
    const earlierType = types.get(name);
    if (earlierType && type && type !== earlierType)
      throw new Error(`:${name} is ${earlierType} and ${type} in: ${sql}`);
    if (!earlierType) types.set(name, type ?? 'text');
    return `q."${name}"`;
  });
  // The table of batch elements needs a column.
  if (types.size === 0) types.set('unused', 'text');
  const names = [...types.keys()];
  const toColumns = (toValue: (index: number) => string) =>
    names.map((name, index) => `${toValue(index)}::${types.get(name)} as "${name}"`).join(', ');
  const parameters = names.map((_, index) => `$${index + 1}::text[]`);
  const batch = `(select n, ${toColumns((index) => `v${index}`)} from unnest(${parameters.join(', ')}) with ordinality
    as batch(${names.map((_, index) => `v${index}`).join(', ')}, n) offset 0) q`;
  const single = `(select 1 as n, ${toColumns((index) => `$${index + 1}`)}) q`;
  const toText = (table: string) => bound.replace(':batch', () => table).replace(/\s+/g, ' ');
  return { text: toText(batch), singleText: toText(single), names };
}

/** Maximum bytes of a statement's name. PostgreSQL truncates longer names, which could make two equal. */
const MAX_NAME = 63;

/** Returns eight characters that identify a text in the names of statements. */
export const shortDigest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 8);

function toStatementName(name: string): string {
  if (name.length <= MAX_NAME) return name;
  const digest = shortDigest(name);
  return `${name.slice(0, MAX_NAME - digest.length - 1)}#${digest}`;
}
