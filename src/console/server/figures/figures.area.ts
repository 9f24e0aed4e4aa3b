import type { InsuranceType } from '../../../../schema/enums.ts';
import type { Scope } from '../../../../schema/scopes.ts';
import { getTimeZone, toDatabaseTimeZone } from '../../../../schema/time-zone.ts';
import {
  readAttendanceAwaitingAction,
  readAttendanceByDay,
  readSignOnsByHour,
  readUsualEnd,
  readWorkersOnSite,
} from '../../../domain/dashboard-figures/attendance.ts';
import {
  type DayRange,
  type FigureFilter,
  MAX_GROUPS,
  requireFewGroups,
} from '../../../domain/dashboard-figures/figure-query.ts';
import { readHoursByCostCode, readHoursByProject, readHoursByWeek } from '../../../domain/dashboard-figures/hours.ts';
import {
  readInductionsByStatus,
  readInsurancesByMonth,
  readItemsAwaitingAction,
} from '../../../domain/dashboard-figures/records.ts';
import { visits } from '../../../domain/readers/attendance.reader.ts';
import { builders } from '../../../domain/readers/builder.reader.ts';
import { projects } from '../../../domain/readers/project.reader.ts';
import { requireFound } from '../../../domain/require-found.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { invalidField } from '../../../shared/errors.ts';
import type { ConsoleArea, ConsoleContext, ConsoleOperation } from '../console-area.ts';
import { figureTypes } from './figures.schema.ts';

/** Days until the end of cover within which an insurance waits for a person. */
const INSURANCE_DAYS = 30;

/** Assumed number of records of a figure, in the cost of a query. */
const FIGURE_RECORDS = 371;

/** The arguments of all figures, which the schema has validated, with the time zone of the builder. Each figure has some of them. */
interface FigureArgs extends FigureFilter, DayRange {
  date: string;
  costCodeId?: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: timesheets and insurances have statuses of their own.
  status?: any;
  type?: InsuranceType | null;
}

type Read = (context: ConsoleContext, args: FigureArgs) => Promise<unknown>;
type ReadRange = (database: ConsoleContext['database'], filter: FigureArgs, range: DayRange) => Promise<unknown>;

/** Returns the query of a figure, which needs the scope of the counted records. An unknown builder is 404. */
const figure = (scope: Scope | null, read: Read, maxRecords = FIGURE_RECORDS): ConsoleOperation => ({
  action: 'records.read',
  maxRecords,
  async resolve(_parent, args: Omit<FigureArgs, 'timeZone'>, context) {
    context.caller.requireScope(scope);
    const builder = await requireFound(context.loaders.load(builders, args.builderId), 'Builder');
    const timeZone = toDatabaseTimeZone(getTimeZone(builder, context.region));
    const { projectId = null } = args;
    return read(context, { ...args, projectId, timeZone });
  },
});

/** Returns the query of a figure over a range of days, which may be some seconds old (CON-17). */
const figureOfDays = (scope: Scope, maxDays: number, read: ReadRange, maxRecords?: number) =>
  figure(
    scope,
    ({ database }, args) => {
      const { startDate, endDate } = args;
      const days = (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS + 1;
      if (days < 1) throw invalidField('endDate', 'must not be before startDate');
      if (days > maxDays) throw invalidField('endDate', `must be at most ${maxDays - 1} days after startDate`);
      return read(database.onReplica(), args, args);
    },
    maxRecords,
  );

const getNow = ({ clock }: ConsoleContext) => new Date(clock.now()).toISOString();

/** Maximum visits of a day: more than twice the people of the largest builder. */
const MAX_VISITS = 5_000;

/** Returns all visits of a builder or a project that began on a day. Throws 400 where there are too many. */
async function readVisitsOfDay(
  { database, personalReads }: ConsoleContext,
  { builderId, projectId, timeZone, date }: FigureArgs,
) {
  const where = { builderId, projectId, date, timeZone, notArchived: true };
  const { data } = await visits.findPage(database, where, { offset: 0, limit: MAX_VISITS + 1 });
  if (data.length > MAX_VISITS) throw invalidField('date', `has more than ${MAX_VISITS} visits`);
  for (const { workerId } of data) personalReads.add(workerId, 'SignOnVisit', builderId);
  return data;
}

/** Figures for charts, each counted by one statement in an index, the projects that they are filtered by, and the visits of a board. */
export const figuresArea: ConsoleArea = {
  types: figureTypes,
  queries: {
    hoursByWeek: figureOfDays('read:timesheets', 371, readHoursByWeek),
    hoursByProject: figureOfDays('read:timesheets', 371, readHoursByProject, MAX_GROUPS),
    hoursByCostCode: figureOfDays('read:timesheets', 371, readHoursByCostCode, MAX_GROUPS),
    attendanceByDay: figureOfDays('read:attendance', 93, readAttendanceByDay),
    insurancesByMonth: figureOfDays('read:insurances', 1_827, readInsurancesByMonth),
    signOnsByHour: figure('read:attendance', ({ database }, args) => readSignOnsByHour(database, args, args.date)),
    usualEnd: figure('read:attendance', ({ database }, args) => readUsualEnd(database, args, args.date), 1),
    attendanceAwaitingAction: figure(
      'read:attendance',
      ({ database }, filter) => readAttendanceAwaitingAction(database, filter),
      1,
    ),
    visitsOfDay: figure('read:attendance', readVisitsOfDay, MAX_VISITS),
    workersOnSite: figure(
      'read:attendance',
      (context, filter) => readWorkersOnSite(context.database, filter, getNow(context)),
      MAX_GROUPS,
    ),
    projectsInProgress: figure(
      'read:projects',
      async ({ database }, { builderId }) =>
        requireFewGroups(await projects.findAll(database, { builderId, status: 'IN_PROGRESS' })),
      MAX_GROUPS,
    ),
    inductionsByStatus: figure('read:inductions', ({ database }, filter) => readInductionsByStatus(database, filter)),
    itemsAwaitingAction: figure(null, async (context, filter) => {
      const items = await readItemsAwaitingAction(context.database, filter, getNow(context), INSURANCE_DAYS);
      if (context.caller.scopes.has('read:attendance')) return items;
      return { ...items, signOnConflicts: null, pendingSignOffs: null, rejectedSignOffs: null };
    }),
  },
};
