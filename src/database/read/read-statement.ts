import { createHash } from 'node:crypto';
import type { Statement } from '../pool/pg-pipeline.ts';
import {
  findDayTotals,
  isReadInOrder,
  toDayTotalSql,
  toLocatedPageSql,
  toNextPageSql,
  toSizeSql,
} from './day-totals.ts';
import type { ColumnOptions, RowMapper } from './row-mapper.ts';

export interface ReadOptions<Filter extends string> extends ColumnOptions {
  /** SQL joins from the row `t` to tables of the columns. They must not drop or multiply rows. */
  joins?: string;
  /**
   * SQL condition over `t` for each filter. `:name` is the filter's value, which is text unless its first use has a cast:
   * `:expiresAfter::timestamptz`.
   */
  filters?: Record<Filter, string>;
  /** SQL condition over `t` of every read. */
  condition?: string;
  /** SQL order of lists. Default: creation time, then id (LST-4). */
  order?: string;
  /**
   * Column by which the counters of an entity with `KeepsTotal` are split. Lists that are filtered only by builder, project and this
   * column take their total from the counters.
   */
  counterKind?: 'status' | 'source';
  /** Values of filters that most rows of the list match, so that its first pages are read in the list's order. */
  mostRowsMatch?: Partial<Record<NoInfer<Filter>, readonly unknown[]>>;
  /** Skip the total count. */
  skipTotal?: boolean;
}

/**
 * Kind of a read: a page with its total; a page whose days are found by totals by day (`located`); the first page by cursor, and one
 * after a position (`next`), or any page by cursor whose days are found (`locatedNext`); the row of an id; all rows. The first column of each
 * row is the number, from 1, of the batch element that it belongs to. The second column of a page is its total, of a located page its
 * total and the size of the list (`toSizeSql`), and of a page by cursor its total and the position of the row, separated by `|`. An empty
 * page is one row with null in all further columns.
 */
export type ReadKind = 'page' | 'located' | 'first' | 'next' | 'locatedNext' | 'one' | 'all';

export interface PreparedRead {
  statement: Statement;
  /** Names of the parameters, in order. Each is an array of text with one value per batch element. */
  parameterNames: string[];
  kind: ReadKind;
  mapper: RowMapper;
  /** Whether it may take long: a total is counted in a large list, or all records that have changed since a time are sorted. */
  isSlow: boolean;
}

type AnyReadOptions = ReadOptions<string>;

/** Whether the total with those filters is the sum of counters. */
function hasStoredTotal({ counterKind }: AnyReadOptions, filters: readonly string[]): boolean {
  if (!counterKind || filters.length === 0) return false;
  return filters.every((name) => name === 'builderId' || name === 'projectId' || name === counterKind);
}

/** How a page with certain filters is found by totals by day. */
export interface LocatedRead {
  /** Whether the read returns the size of the list too. */
  hasSize: boolean;
}

/** Returns null where a page with those filters cannot be found by totals by day. */
export function findLocatedRead(
  table: string,
  options: AnyReadOptions,
  filters: readonly string[],
): LocatedRead | null {
  const totals = findDayTotals(toFilteredList(table, options, filters));
  return totals && { hasSize: toSizeSql(totals) !== null };
}

type FilteredRows = ReturnType<typeof toFilteredList>;

function toFilteredList(table: string, options: AnyReadOptions, filters: readonly string[]) {
  const { condition = 'true', order = 't.created_at, t.id' } = options;
  const conditions = filters.map((name) => options.filters![name]!);
  return { table, filters, conditions, matching: [condition, ...conditions].join(' and '), order };
}

/** Returns a read as a prepared statement. A statement with the name '' is planned for each use. */
export function prepareRead(
  name: string,
  kind: ReadKind,
  filters: readonly string[],
  mapper: RowMapper,
  options: AnyReadOptions,
): PreparedRead {
  const { text, names } = bindParameters(buildSql(kind, filters, mapper, options));
  const isPage = kind !== 'one' && kind !== 'all';
  const isCounted =
    isPage && options.counterKind !== undefined && !options.skipTotal && !hasStoredTotal(options, filters);
  const isCountedInRows = isCounted && !(kind === 'page' && findLocatedRead(mapper.table, options, filters));
  const isSearched = (kind === 'first' || kind === 'next') && options.counterKind !== undefined;
  const isSlow =
    isCountedInRows ||
    (isPage && filters.includes('updatedSince')) ||
    (isSearched && !isReadInOrder(filters, Object.keys(options.mostRowsMatch ?? {})));
  return { statement: { name: toStatementName(name), text }, parameterNames: names, kind, mapper, isSlow };
}

/** `:batch` is the table `q` of the batch elements, with their numbers `q.n`. */
function buildSql(kind: ReadKind, filters: readonly string[], mapper: RowMapper, options: AnyReadOptions): string {
  const { table } = mapper;
  const { joins = '' } = options;
  const list = toFilteredList(table, options, filters);
  const { matching, order } = list;
  const columns = mapper.toSelectList(filters);
  if (kind === 'one') {
    // For each id by itself, because the planner would rather read a small table once for all, also for one id. `xmin` is always true and
    // in no index: it prevents a full scan of a covering index.
    const byId = `t.id = :id::${mapper.idType} and t.xmin <> '0' and ${matching}`;
    return `select q.n, ${columns} from :batch cross join lateral (select t.* from ${table} t where ${byId} limit 1) t ${joins}`;
  }
  if (kind === 'all') {
    return `select q.n, ${columns} from :batch join ${table} t on ${matching} ${joins} order by q.n, ${order}`;
  }
  const [orderColumn] = order.split(',', 1);
  const toCursor = (total: string) => `concat(${total}, '|', ${orderColumn}, '|', t.id)`;
  if (kind === 'located' || kind === 'locatedNext') {
    const isNext = kind === 'locatedNext';
    const { total, ids } = (isNext ? toNextPageSql : toLocatedPageSql)(findDayTotals(list)!);
    return `select q.n, ${isNext ? toCursor('c.total') : 'c.total'}, ${columns} from :batch cross join lateral (${total}) c left join lateral (${ids}) w on true
      left join ${table} t on t.id = w.id ${joins} order by q.n, ${order}`;
  }
  const isByCursor = kind === 'first' || kind === 'next';
  const counted = `:batch cross join lateral (${buildTotalSql(list, options)}) c`;
  const [source, total] = options.skipTotal ? [':batch', 'null'] : [counted, 'c.total'];
  const value = isByCursor ? toCursor(total) : total;
  const position = `and (${orderColumn}, t.id) > (:afterValue::timestamptz, :afterId::${mapper.idType})`;
  // Nothing is searched for where the total says that nothing is there.
  const hasRows = options.counterKind && !options.skipTotal ? 'and c.total > :offset::int' : '';
  const rows = `${table} t where ${toOrderedCondition(list, options)} ${hasRows} ${kind === 'next' ? position : ''}`;
  // The planner cannot know that few records have changed, and would rather read the list in its order until the page is full.
  const from = filters.includes('updatedSince') ? `(select t.* from ${rows} offset 0) t` : rows;
  const window = `select t.* from ${from} order by ${order} limit :limit::int offset :offset::int`;
  return `select q.n, ${value}, ${columns} from ${source} left join lateral (${window}) t on true ${joins}
    order by q.n, ${order}`;
}

/**
 * Returns the condition of the rows of a large list. All rows of a parent are of one builder, which the planner does not know: it expects few
 * rows and combines the indexes of both. As an expression the builder is compared in the rows of the parent, which are read in the list's order.
 */
function toOrderedCondition({ filters, conditions, matching }: FilteredRows, { counterKind }: AnyReadOptions): string {
  const isOfParent = conditions.some((sql) => /^t\.(project|folder|subcontractor)_id = /.test(sql));
  const isOrdered = counterKind !== undefined && isOfParent && !filters.includes('updatedSince');
  return isOrdered ? matching.replace('t.builder_id = ', `t.builder_id || '' = `) : matching;
}

function buildTotalSql(list: FilteredRows, options: AnyReadOptions): string {
  const { table, filters, conditions, matching } = list;
  if (hasStoredTotal(options, filters)) {
    const name = table.replaceAll('"', "'");
    const where = conditions.join(' and ').replaceAll(`t.${options.counterKind}`, 't.kind');
    return `select coalesce(sum(t.added), 0)::bigint as total from list_total t where t.list = ${name} and ${where}`;
  }
  const days = findDayTotals(list);
  return days ? toDayTotalSql(days) : `select count(*) as total from ${table} t where ${matching}`;
}

/**
 * Replaces `:name` by a column of the table of batch elements, and `:batch` by that table. Values arrive as text. `offset 0` makes
 * PostgreSQL convert them once per batch element; it would otherwise move the cast to where the value is used, once per row.
 */
function bindParameters(sql: string): { text: string; names: string[] } {
  const types = new Map<string, string>();
  const text = sql.replace(/(?<!:):(?!batch\b)([a-zA-Z]+)(?:::(\w+(?:\[\])?))?/g, (_, name: string, type?: string) => {
    const earlierType = types.get(name);
    if (earlierType && type && type !== earlierType)
      throw new Error(`:${name} is ${earlierType} and ${type} in: ${sql}`);
    if (!earlierType) types.set(name, type ?? 'text');
    return `q."${name}"`;
  });
  // The table of batch elements needs a column.
  if (types.size === 0) types.set('unused', 'text');
  const names = [...types.keys()];
  const parameters = names.map((_, index) => `$${index + 1}::text[]`);
  const columns = names.map((name, index) => `v${index}::${types.get(name)} as "${name}"`);
  const batch = `(select n, ${columns.join(', ')} from unnest(${parameters.join(', ')}) with ordinality
    as batch(${names.map((_, index) => `v${index}`).join(', ')}, n) offset 0) q`;
  return { text: text.replace(':batch', () => batch).replace(/\s+/g, ' '), names };
}

/** Maximum bytes of a statement's name. PostgreSQL truncates longer names, which could make two equal. */
const MAX_NAME = 63;

/** Returns eight characters that identify a text in the names of statements. */
export function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

function toStatementName(name: string): string {
  if (name.length <= MAX_NAME) return name;
  const digest = shortDigest(name);
  return `${name.slice(0, MAX_NAME - digest.length - 1)}#${digest}`;
}
