import { toSnakeCase } from '../../../entities/columns.ts';

/** A comparison of a column of the row `t` with the filter's value. */
interface ColumnFilter {
  column: string;
  /** `eq`: equal to the value or one of a list, `from` and `until`: at or after and at or before, `before`: before the value. */
  op: 'eq' | 'from' | 'until' | 'before';
  /** Further SQL condition, which does not refer to `t`. */
  and?: string;
}

/**
 * An SQL condition over `t`, where a comparison does not do. `:name` is the value of the filter of that name, which is text unless its
 * first use has a cast: `:archived::boolean`.
 */
interface SqlFilter {
  sql: string;
  /** Whether it is a search, of which an index has few rows where the list's order has many. */
  isSearch?: true;
}

export type FilterDefinition = ColumnFilter | SqlFilter;

/** Returns filters that compare the columns of their names. */
export const equal = <Filter extends string>(...names: Filter[]) =>
  Object.fromEntries(names.map((name) => [name, { column: toSnakeCase(name), op: 'eq' }])) as Record<
    Filter,
    ColumnFilter
  >;

/** Values of the filters, by name. A filter with null or undefined is not applied. */
export type Where<Filter extends string = string> = Partial<Record<Filter, unknown>>;

/** A filter of a read that has a value. */
export interface AppliedFilter {
  name: string;
  definition: FilterDefinition;
  /** Whether the value is a list. */
  isList: boolean;
}

const OPERATORS = { eq: '=', from: '>=', until: '<=', before: '<' };

/** Whether the filter selects a range of a column or is a search, of which an index has few rows where the list's order has many. */
export const isRange = ({ definition }: AppliedFilter): boolean =>
  'op' in definition ? ['from', 'until', 'before'].includes(definition.op) : definition.isSearch === true;

/** Whether the filter selects a range of the column. */
export const isRangeOf = ({ definition }: AppliedFilter, column: string): boolean =>
  'op' in definition && definition.column === column;

/**
 * Declares a search of rows by the words of a text, in the rows of the filter `builderId`.
 *
 * @param text SQL of the text of the row `t`
 */
export const searchOf = (text: string): FilterDefinition => ({
  sql: `search_vector(t.builder_id, ${text}) @@ search_query(:builderId, :search)`,
  isSearch: true,
});

/** Declares a search of rows by the words of a text of the records that the column refers to. As an array, for which the planner uses index lookups. */
export const searchBy = (column: string, table: string, text: string): FilterDefinition => ({
  sql: `t.${column} = any(array(select s.id from ${table} s
    where search_vector(s.builder_id, s.${text}) @@ search_query(:builderId, :search)))`,
  isSearch: true,
});

/** Returns the column that the filter compares for equality with one value or a list of values; null for other filters. */
export const toComparedColumn = ({ definition }: AppliedFilter): string | null =>
  'op' in definition && definition.op === 'eq' ? definition.column : null;

/**
 * Returns the SQL condition of a filter.
 *
 * @param type PostgreSQL type of the filter's column
 * @param operand SQL that is compared; default: the column
 */
export function toConditionSql(
  { name, definition, isList }: AppliedFilter,
  type: (column: string) => string,
  operand?: string,
): string {
  if ('sql' in definition) return definition.sql;
  const { column, op, and } = definition;
  const value = isList ? `any(:${name}::${type(column)}[])` : `:${name}::${type(column)}`;
  return `${operand ?? `t.${column}`} ${OPERATORS[op]} ${value}${and ? ` and ${and}` : ''}`;
}
