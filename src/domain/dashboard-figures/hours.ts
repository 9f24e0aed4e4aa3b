import type { TimesheetStatus } from '../../../schema/enums.ts';
import type { Statement, TextRow } from '../../database/pool/pg-pipeline.ts';
import type { ReadDatabase } from '../../database/read/read-database.ts';
import { runSlowStatement } from '../../database/read/slow-read.ts';
import { toZoneDaySql } from '../../database/read/zone-day.ts';
import {
  type DayRange,
  type FigureFilter,
  LIMIT_GROUPS,
  OF_BUILDER,
  requireFewGroups,
  toRangeParameters,
} from './figure-query.ts';

interface WorkedHours {
  /** To a ten-thousandth. */
  hours: number;
  timesheets: number;
}

/**
 * Returns a statement of the sums for each value of a column, in the order of the selected columns. The index scan is a day longer than the
 * range at both ends, whatever the time zone, and its rows are added up by date before their day is computed.
 */
const sumBy = (name: string, key: string, columns: string[], joins = ''): Statement => {
  const numbers = columns.map((_, index) => index + 1).join(', ');
  return {
    name: `figures.hours-by-${name}`,
    text: `select ${columns.join(', ')}, round(sum(hours)::numeric, 4), sum(timesheets) from (
      select ${toZoneDaySql('date', '$3')} as day, key, hours, timesheets from (
        select date, ${key} as key, sum(hours) as hours, count(*) as timesheets from timesheet
          where ${OF_BUILDER} and ($6::text is null or cost_code_id = $6) and ($7::text is null or status = $7)
            and date >= $4::date - 1 and date < $5::date + 2 group by date, key) by_date) by_day ${joins}
    where day between $4::date and $5::date group by ${numbers} order by ${numbers} ${LIMIT_GROUPS}`,
  };
};

const BY_WEEK = sumBy('week', 'status', ["to_char(day - (extract(isodow from day)::int - 1), 'YYYY-MM-DD')", 'key']);
const BY_PROJECT = sumBy('project', 'project_id', ['project.name', 'key'], 'join project on project.id = by_day.key');
const BY_COST_CODE = sumBy(
  'cost-code',
  'cost_code_id',
  ['code.code', 'key', 'code.description'],
  'left join timesheet_cost_code code on code.id = by_day.key',
);

/** Filter of the hours of a builder. */
export interface HoursFilter extends FigureFilter {
  /** Absent or null for all cost codes. */
  costCodeId?: string | null;
  /** Absent or null for all statuses. */
  status?: TimesheetStatus | null;
}

const toParameters = (filter: HoursFilter, range: DayRange) => [
  ...toRangeParameters(filter, range),
  filter.costCodeId ?? null,
  filter.status ?? null,
];

const toHours = (row: TextRow): WorkedHours => ({ hours: Number(row.at(-2)), timesheets: Number(row.at(-1)) });

/** Returns the hours of each week and status that has timesheets. A week is named by its Monday. */
export async function readHoursByWeek(database: ReadDatabase, filter: HoursFilter, range: DayRange) {
  const rows = await runSlowStatement(database, BY_WEEK, toParameters(filter, range));
  return rows.map((row) => ({ week: row[0]!, status: row[1] as TimesheetStatus, ...toHours(row) }));
}

/** Returns the hours of each project that has timesheets, by name. */
export async function readHoursByProject(database: ReadDatabase, filter: HoursFilter, range: DayRange) {
  const { builderId } = filter;
  const rows = await runSlowStatement(database, BY_PROJECT, toParameters(filter, range));
  return requireFewGroups(rows).map((row) => ({ project: { id: row[1]!, name: row[0]!, builderId }, ...toHours(row) }));
}

/** Returns the hours of each cost code that has timesheets, by code, and last those without a cost code. */
export async function readHoursByCostCode(database: ReadDatabase, filter: HoursFilter, range: DayRange) {
  const { builderId } = filter;
  const rows = await runSlowStatement(database, BY_COST_CODE, toParameters(filter, range));
  return requireFewGroups(rows).map((row) => {
    const [code, id, description] = row;
    return { costCode: id == null ? null : { id, builderId, code, description }, ...toHours(row) };
  });
}
