import { invalidField } from '../../shared/errors.ts';

/** Maximum projects or cost codes that one figure is divided by, or that are offered. CON-14. */
export const MAX_GROUPS = 10_000;

/** SQL that reads one row more than `MAX_GROUPS`, which shows that there are too many. */
export const LIMIT_GROUPS = `limit ${MAX_GROUPS + 1}`;

/** Returns the rows. Throws a `ValidationError` for more than 10,000, so that none is missing. */
export function requireFewGroups<Row>(rows: Row[]): Row[] {
  if (rows.length > MAX_GROUPS) throw invalidField('builderId', `has more than ${MAX_GROUPS} projects or cost codes`);
  return rows;
}

/** The records that a figure counts. */
export interface FigureFilter {
  builderId: string;
  /** Null for all projects. */
  projectId: string | null;
  /** IANA name of the zone that days and hours belong to. */
  timeZone: string;
}

/** Days of the calendar, both inclusive: `2026-03-02`. */
export interface DayRange {
  startDate: string;
  endDate: string;
}

/** Parameters of statements over a range of days, in their order: `$1` to `$5`. */
export const toRangeParameters = ({ builderId, projectId, timeZone }: FigureFilter, range: DayRange) => [
  builderId,
  projectId,
  timeZone,
  range.startDate,
  range.endDate,
];

/** SQL condition of the builder's rows, of one project if `$2` is not null. */
export const OF_BUILDER = 'builder_id = $1 and ($2::text is null or project_id = $2)';

/** SQL of midnight at the beginning of a day in the time zone `zone`. */
export const toMidnightSql = (day: string, zone: string) => `((${day})::timestamp at time zone ${zone})`;
