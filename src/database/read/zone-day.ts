/**
 * Returns SQL of the day of an instant in a time zone. Midnight UTC is a day without a time zone, which `2026-03-02` becomes in v1: in New York
 * it would otherwise be the day before. RED-31.
 */
export const toZoneDaySql = (instant: string, zone: string): string =>
  `case when timezone('UTC', ${instant})::time = '00:00' then timezone('UTC', ${instant})::date else timezone(${zone}, ${instant})::date end`;

/** Filters of a reader for a range of days in a time zone, of a column of the row `t`. A range of instants beside them uses the index. */
export const toZoneDayFilters = (column: string) => ({
  firstDay: { sql: `${toZoneDaySql(`t.${column}`, ':timeZone')} >= :firstDay::date` },
  lastDay: { sql: `${toZoneDaySql(`t.${column}`, ':timeZone')} <= :lastDay::date` },
  /** Parameter of both. */
  timeZone: { sql: 'true' },
});
