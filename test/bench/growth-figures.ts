import type { Database } from '../../src/database/database.ts';
import {
  readAttendanceAwaitingAction,
  readAttendanceByDay,
  readSignOnsByHour,
  readUsualEnd,
  readWorkersOnSite,
} from '../../src/domain/dashboard-figures/attendance.ts';
import type { FigureFilter } from '../../src/domain/dashboard-figures/figure-query.ts';
import { readHoursByCostCode, readHoursByProject, readHoursByWeek } from '../../src/domain/dashboard-figures/hours.ts';
import {
  readInductionsByStatus,
  readInsurancesByMonth,
  readItemsAwaitingAction,
} from '../../src/domain/dashboard-figures/records.ts';
import { readUsageByDay } from '../../src/domain/request-log/read-usage.ts';
import type { GrowthData } from './growth-data.ts';

/** A figure of the console that is read from both sizes. */
interface FigureCase {
  name: string;
  read(database: Database): Promise<unknown>;
}

const QUARTER = { startDate: '2026-09-28', endDate: '2026-12-20' };
const YEAR = { startDate: '2026-01-05', endDate: '2026-12-20' };
const MONTH = { startDate: '2026-11-20', endDate: '2026-12-20' };
const USAGE = { since: '2025-11-16', until: '2026-12-20' };
const NOW = '2026-12-20T02:00:00.000Z';

/** Returns every figure of one builder. */
export function createFigureCases({ builders }: GrowthData): FigureCase[] {
  const { id: builderId, projectIds } = builders[0]!;
  const allProjects: FigureFilter = { builderId, projectId: null, timeZone: 'Australia/Sydney' };
  const oneProject = { ...allProjects, projectId: projectIds[0]! };
  const toCase = (name: string, read: FigureCase['read']): FigureCase => ({ name: `figure ${name}`, read });
  return [
    toCase('hours by week, 12 weeks', (database) => readHoursByWeek(database, allProjects, QUARTER)),
    toCase('hours by week of a project, 12 weeks', (database) => readHoursByWeek(database, oneProject, QUARTER)),
    toCase('hours by project, 12 weeks', (database) => readHoursByProject(database, allProjects, QUARTER)),
    toCase('hours by cost code, 12 weeks', (database) => readHoursByCostCode(database, allProjects, QUARTER)),
    toCase('hours by week, 50 weeks', (database) => readHoursByWeek(database, allProjects, YEAR)),
    toCase('attendance by day, a month', (database) => readAttendanceByDay(database, allProjects, MONTH)),
    toCase('sign-ons by hour', (database) => readSignOnsByHour(database, allProjects, MONTH.endDate)),
    toCase('workers on site', (database) => readWorkersOnSite(database, allProjects, NOW)),
    toCase('usual end of visits', (database) => readUsualEnd(database, oneProject, MONTH.endDate)),
    toCase('attendance awaiting action', (database) => readAttendanceAwaitingAction(database, allProjects)),
    toCase('inductions by status', (database) => readInductionsByStatus(database, allProjects)),
    toCase('insurances by month, a year', (database) => readInsurancesByMonth(database, allProjects, YEAR)),
    toCase('items awaiting action', (database) => readItemsAwaitingAction(database, allProjects, NOW, 30)),
    toCase('usage by day, 400 days', (database) => readUsageByDay(database, USAGE, null)),
  ];
}
