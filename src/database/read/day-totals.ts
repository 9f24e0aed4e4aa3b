import { toMonthSql } from '../../../entities/list-day.entity.ts';
import { type CountedList, countedLists, toDaySql } from '../../../entities/list-total.entity.ts';
import { isZoneDayCondition } from './zone-day.ts';

/** Filters by a parent beside the builder. All rows of a parent are of its builder, and totals by day are found by builder. */
const BUILDER_OF_PARENT: Record<string, string> = {
  subcontractorId: 'select p.builder_id from subcontractor p where p.id = :subcontractorId',
  folderId: 'select p.builder_id from photo_folder p where p.id = :folderId',
  projectId: 'select p.builder_id from project p where p.id = :projectId',
};

/** A list with totals by day, with some of its filters. */
interface FilteredList {
  list: CountedList;
  table: string;
  /** Names of the given filters. */
  filters: readonly string[];
  /** SQL condition of each of them. */
  conditions: readonly string[];
  /** SQL condition of the list's rows. */
  matching: string;
  order: string;
}

/** Whether the filters are a builder or one parent, whose rows an index has in the list's order, and others that most rows match. */
export function isReadInOrder(filters: readonly string[], mostRowsMatch: readonly string[] = []): boolean {
  const others = filters.filter((name) => name !== 'builderId' && !mostRowsMatch.includes(name));
  return others.length === 0 || (others.length === 1 && others[0]! in BUILDER_OF_PARENT);
}

/** Returns the list with the filters if its totals by day can be added up to their total; null otherwise. */
export function findDayTotals(filtered: Omit<FilteredList, 'list'>): FilteredList | null {
  const list = countedLists.find(({ table }) => `"${table}"` === filtered.table);
  if (!list || !toBuilderSql(filtered.filters)) return null;
  const isCounted = (sql: string) => !/\bt\./.test(toTotalCondition(list, sql));
  const isByParents = filtered.filters.filter((name) => name in BUILDER_OF_PARENT).length > 1;
  const isKept =
    !isByParents && filtered.conditions.every((sql) => isRange(list, sql) || isZoneDayCondition(sql) || isCounted(sql));
  return isKept ? { ...filtered, list } : null;
}

/** Returns SQL of the number of matching rows, as `total`. */
export const toDayTotalSql = (filtered: FilteredList): string =>
  `select coalesce(sum(x.added), 0)::bigint as total from (${isByDate(filtered) ? toDaysSql(filtered) : toMonthsSql(filtered)}) x`;

/**
 * Returns SQL of the total, and of the ids of the rows from `:offset` on: the days that contain them are found by running totals, and
 * only rows of these days are read. In a list that is not filtered by date, only days of the months that contain the page are added up.
 */
export function toLocatedPageSql(filtered: FilteredList): { total: string; ids: string } {
  const { table, order } = filtered;
  const isOnPage = `z.before < :offset::bigint + :limit::bigint and z.before + z.added > :offset::bigint`;
  const onPage = (column: string) => `array_agg(z.${column}) filter (where ${isOnPage})`;
  const days = `${onPage('created_on')} as days, ${onPage('before')} as befores, ${onPage('added')} as counts`;
  const toRunning = (column: string, rows: string, begin = '') =>
    `select y.${column}, y.added, ${begin}sum(y.added) over (order by y.${column} rows unbounded preceding) - y.added as before from (${rows}) y`;
  const total = isByDate(filtered)
    ? `select coalesce(sum(z.added), 0)::bigint as total, ${days}
        from (${toRunning('created_on', addUpDays(filtered))}) z`
    : `select m.total, d.days, d.befores, d.counts
        from (select coalesce(sum(z.added), 0)::bigint as total, ${monthsOnPage(isOnPage)},
            min(z.before) filter (where ${isOnPage}) as before
          from (${toRunning('created_in', addUpMonths(filtered))}) z) m
        cross join lateral (select ${days}
          from (${toRunning('created_on', addUpDays(filtered, WITHIN_MONTHS), 'm.before + ')}) z) d`;
  return {
    total,
    ids: `select w.id from unnest(c.days, c.befores, c.counts) d(created_on, before, added) cross join lateral (
        select t.id from ${table} t where ${isBeforeEnd(filtered)} and t.created_at >= d.created_on
        order by ${order} limit least(d.before + d.added, :offset::bigint + :limit::bigint) - greatest(d.before, :offset::bigint)
        offset greatest(:offset::bigint - d.before, 0)) w`,
  };
}

/**
 * Returns the same for the page after the position of a cursor: the position's day, all of whose rows may be before it, and days after it
 * until their rows fill the page. Each day has one lower bound: with two, PostgreSQL reads the index from the lesser one.
 */
export function toNextPageSql(filtered: FilteredList): { total: string; ids: string } {
  const day = toDaySql(':afterValue::timestamptz');
  const month = toMonthSql(':afterValue::timestamptz');
  const isOnPage = (column: string, begin: string) =>
    `z.added > 0 and z.${column} >= ${begin} and z.before < :limit::bigint`;
  const days = `array_agg(z.created_on) filter (where ${isOnPage('created_on', day)}) as days`;
  const toRunning = (column: string, begin: string, rows: string) => `select y.${column}, y.added,
      coalesce(sum(y.added) filter (where y.${column} > ${begin}) over (order by y.${column} rows unbounded preceding), 0) - y.added as before from (${rows}) y`;
  const total = isByDate(filtered)
    ? `select coalesce(sum(z.added), 0)::bigint as total, ${days} from (${toRunning('created_on', day, addUpDays(filtered))}) z`
    : `select m.total, d.days
        from (select coalesce(sum(z.added), 0)::bigint as total, ${monthsOnPage(isOnPage('created_in', month))}
          from (${toRunning('created_in', month, addUpMonths(filtered))}) z) m
        cross join lateral (select ${days}
          from (${toRunning('created_on', day, addUpDays(filtered, WITHIN_MONTHS))}) z) d`;
  return {
    total,
    ids: `select w.id from unnest(c.days) d(created_on) cross join lateral (
        select t.id, t.created_at from ${filtered.table} t
        where ${isBeforeEnd(filtered)} and (t.created_at, t.id) > (
          greatest(d.created_on, :afterValue::timestamptz),
          case when d.created_on > :afterValue::timestamptz then '' else :afterId::text end)
        order by t.created_at, t.id limit :limit::bigint) w
      order by w.created_at, w.id limit :limit::bigint`,
  };
}

/** Returns SQL of the first and last month `z` that matches. */
const monthsOnPage = (isOnPage: string): string =>
  `min(z.created_in) filter (where ${isOnPage}) as first, max(z.created_in) filter (where ${isOnPage}) as last`;

/** SQL condition of days `x` within these months. */
const WITHIN_MONTHS = ` and x.created_on >= m.first and x.created_on < m.last + interval '1 month'`;

/** Returns SQL of the number of matching rows of each day of creation. */
const addUpDays = (filtered: FilteredList, within = ''): string =>
  `select x.created_on, sum(x.added)::int as added from (${toDaysSql(filtered, within)}) x group by x.created_on`;

/** Returns SQL of the number of matching rows of each month of creation. */
const addUpMonths = (filtered: FilteredList): string =>
  `select x.created_in, sum(x.added)::int as added from (${toMonthsSql(filtered)}) x group by x.created_in`;

/** Whether a filter is a range of dates, of which totals by month know nothing. */
const isByDate = ({ list, conditions }: FilteredList): boolean =>
  conditions.some((sql) => isRange(list, sql) || isZoneDayCondition(sql));

/** Returns SQL whether the row `t` matches and is not after the day `d`. */
function isBeforeEnd({ list, matching }: FilteredList): string {
  // As an expression the date is not looked up in its index, which would read the whole range for each day.
  const onDay = matching.replaceAll(`t.${list.date} `, `t.${list.date} + interval '0' `);
  return `${onDay} and t.created_at < d.created_on + interval '24 hours'`;
}

/** Returns SQL conditions of the totals `x` that match the filters, ranges of dates excepted, and of those of all totals that are sums. */
function toTotalConditions({ list, filters, conditions }: FilteredList): { all: string; sums: string } {
  const counted = conditions
    .filter((sql) => !isRange(list, sql) && !isZoneDayCondition(sql))
    .map((sql) => toTotalCondition(list, sql));
  const all = [`x.list = '${list.table}' and x.builder_id = ${toBuilderSql(filters)!}`, ...counted].join(' and ');
  const sums = ['project_id', 'parent_id', 'kind']
    .filter((column) => !counted.some((sql) => sql.includes(`x.${column}`)))
    .map((column) => ` and x.${column} = '*'`);
  return { all, sums: sums.join('') };
}

/** Returns SQL of the numbers of matching rows `added` by month of creation `created_in`, of which a month may have several. */
function toMonthsSql(filtered: FilteredList): string {
  const { all, sums } = toTotalConditions(filtered);
  return `select x.created_in, x.added from list_month_total x where ${all}${sums}
    union all select ${toMonthSql('x.created_on')}, x.added from list_day_change x where ${all}`;
}

/**
 * Returns SQL of the numbers of matching rows `added` by day of creation `created_on`, of which a day may have several.
 *
 * @param within Further condition of the days `x`.
 */
function toDaysSql(filtered: FilteredList, within = ''): string {
  const { list, table, filters, conditions, matching } = filtered;
  const ranges = conditions.filter((sql) => isRange(list, sql));
  const [from, until] = [ranges.find((sql) => sql.includes('>=')), ranges.find((sql) => sql.includes('<='))];
  // Days that lie wholly within the range. Instants have milliseconds. A range of days in a time zone is given with a day more at both ends:
  // whether rows of its first and last day, and of the days beside them, are within it depends on the time zone.
  const margin = conditions.some(isZoneDayCondition) ? 48 : 0;
  const begin = toDaySql(`:startDate::timestamptz + interval '${24 + margin} hours' - interval '1 millisecond'`);
  const end = toDaySql(`:endDate::timestamptz + interval '1 millisecond' - interval '${margin} hours'`);
  const totals = toTotalConditions(filtered);
  const all = `${totals.all}${from ? ` and x.dated_on >= ${begin}` : ''}${until ? ` and x.dated_on < ${end}` : ''}${within}`;
  // The days at the range's ends, of which only a part may be within it.
  const edge = (bound: string) => `
    union all select ${toDaySql('t.created_at')}, 1 from ${table} t
      where ${matching} and t.builder_id = ${toBuilderSql(filters)!} and ${bound}`;
  return `select x.created_on, x.added from list_day_total x where ${all}${totals.sums}
    union all select x.created_on, x.added from list_day_change x where ${all}
    ${from ? edge(`t.${list.date} < ${begin}`) : ''}
    ${until ? edge(`t.${list.date} >= ${from ? `greatest(${begin}, ${end})` : end}`) : ''}`;
}

/** Returns SQL of the builder of the rows; null when no filter determines it. */
function toBuilderSql(filters: readonly string[]): string | null {
  if (filters.includes('builderId')) return ':builderId';
  const parent = Object.keys(BUILDER_OF_PARENT).find((name) => filters.includes(name));
  return parent ? `(${BUILDER_OF_PARENT[parent]})` : null;
}

const isRange = ({ date }: CountedList, sql: string) => date !== null && sql.startsWith(`t.${date} `);

/**
 * Returns a filter's condition with the columns of the totals, `x`, in place of those of the rows, `t`. Columns without totals keep `t`.
 */
const toTotalCondition = ({ kind, parent }: CountedList, sql: string) =>
  sql
    .replace(/\bt\.(builder_id|project_id)\b/g, 'x.$1')
    .replace(new RegExp(`\\bt\\.${kind}\\b`, 'g'), 'x.kind')
    .replace(parent ? new RegExp(`\\bt\\.${parent}\\b`, 'g') : /$^/, 'x.parent_id');
