import type { Database } from '../../src/database/database.ts';
import { readAttendanceByDay, readSignOnsByHour, readWorkersOnSite } from '../../src/domain/figures/attendance.ts';
import type { FigureFilter } from '../../src/domain/figures/figure-query.ts';
import {
  readHoursByCostCode,
  readHoursByProject,
  readHoursByStatus,
  readHoursByWeek,
} from '../../src/domain/figures/hours.ts';
import {
  readInductionsByStatus,
  readInsurancesByMonth,
  readItemsAwaitingAction,
  readPhotosByDay,
} from '../../src/domain/figures/records.ts';
import { readUsage } from '../../src/domain/usage/read-usage.ts';
import type { GrowthData } from './growth-data.ts';

/** A figure of the console, read from both sizes. */
interface FigureCase {
  name: string;
  read(database: Database): Promise<unknown>;
}

const QUARTER = { startDate: '2026-09-28', endDate: '2026-12-20' };
const YEAR = { startDate: '2026-01-05', endDate: '2026-12-20' };
const MONTH = { startDate: '2026-11-20', endDate: '2026-12-20' };
const USAGE = { since: '2025-11-16', until: '2026-12-20', integratorId: null };
const NOW = '2026-12-20T02:00:00.000Z';

/** Every figure of one builder. */
export function figureCases({ builders }: GrowthData): FigureCase[] {
  const { id: builderId, projectIds } = builders[0]!;
  const all: FigureFilter = { builderId, projectId: null, timeZone: 'Australia/Sydney' };
  const ofProject = { ...all, projectId: projectIds[0]! };
  const figure = (name: string, read: FigureCase['read']): FigureCase => ({ name: `figure ${name}`, read });
  return [
    figure('hours by week, 12 weeks', (database) => readHoursByWeek(database, all, QUARTER)),
    figure('hours by week of a project, 12 weeks', (database) => readHoursByWeek(database, ofProject, QUARTER)),
    figure('hours by project, 12 weeks', (database) => readHoursByProject(database, all, QUARTER)),
    figure('hours by cost code, 12 weeks', (database) => readHoursByCostCode(database, all, QUARTER)),
    figure('hours by status, 12 weeks', (database) => readHoursByStatus(database, all, QUARTER)),
    figure('hours by week, 50 weeks', (database) => readHoursByWeek(database, all, YEAR)),
    figure('attendance by day, a month', (database) => readAttendanceByDay(database, all, MONTH)),
    figure('sign-ons by hour', (database) => readSignOnsByHour(database, all, MONTH.endDate)),
    figure('workers on site', (database) => readWorkersOnSite(database, all, NOW)),
    figure('inductions by status', (database) => readInductionsByStatus(database, all)),
    figure('insurances by month, a year', (database) => readInsurancesByMonth(database, all, YEAR)),
    figure('photos by day, a month', (database) => readPhotosByDay(database, all, MONTH)),
    figure('items awaiting action', (database) => readItemsAwaitingAction(database, all, NOW, 30)),
    figure('usage by integrator and day, 400 days', (database) => readUsage(database, USAGE)),
  ];
}
