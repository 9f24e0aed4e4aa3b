/**
 * Returns SQL of the day of an instant in a time zone. Midnight UTC is a day without a time zone, which `2026-03-02` becomes in v1: in New York
 * it would otherwise be the day before. RED-31.
 */
export const toZoneDaySql = (instant: string, zone: string): string =>
  `case when timezone('UTC', ${instant})::time = '00:00' then timezone('UTC', ${instant})::date else timezone(${zone}, ${instant})::date end`;

/** Filters that `toDateRange` adds to `startDate` and `endDate`, by whose column an index finds the rows. */
export const toZoneFilters = (column: string) => ({
  /** Beginning of the first day, where that is after midnight UTC of the day, which is `startDate`. */
  dayBegin: { sql: `(t.${column} >= :dayBegin::timestamptz or t.${column} = :startDate::timestamptz)` },
  /** Midnight UTC of the day after the last one. */
  nextDay: { sql: `t.${column} <> :nextDay::timestamptz` },
});
