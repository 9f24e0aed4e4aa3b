import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { CostCode } from '../../entities/cost-code.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { TimeType } from '../../entities/time-type.entity.ts';
import { TimesheetStatus } from '../../schema/enums.ts';
import { createListType } from '../../schema/list.ts';
import { DateRangeArgs, DayRangeArgs, toDayRange } from '../../schema/range.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId, CostCodeId, ProjectId, TimesheetId } from '../../schema/scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { costCodes, timesheets, timeTypes } from '../../src/domain/readers/timesheet.reader.ts';
import { builderPage, builderRecord, pageEdge } from '../fields.ts';

const CostCodeList = createListType(CostCode);
const TimeTypeList = createListType(TimeType);

const shared = { scope: 'read:timesheets', tag: 'Timesheets' } as const;

@Resolver()
export class TimesheetResolver {
  @Query(() => CostCodeList, { description: 'The cost codes of a builder, by code.' })
  @Rest('GET /timesheets/cost-codes', shared)
  async costCodes(@Arg('builderId', () => BuilderId) builderId: string, @Ctx() { database }: RequestContext) {
    return { data: await costCodes.findAll(database, { builderId }) };
  }

  @Query(() => TimeTypeList, { description: 'The time types of a builder, by name.' })
  @Rest('GET /timesheets/time-types', shared)
  async timeTypes(@Arg('builderId', () => BuilderId) builderId: string, @Ctx() { database }: RequestContext) {
    return { data: await timeTypes.findAll(database, { builderId }) };
  }
}

export const timesheetFields = [
  builderPage('timesheets', timesheets, 'The timesheets of a builder.', {
    operation: Rest('GET /timesheets', shared),
    args: [{ projectId: ProjectId, status: TimesheetStatus }, DateRangeArgs],
  }),
  builderRecord('timesheet', timesheets, { timesheetId: TimesheetId }, ['Timesheet', 'One timesheet.'], {
    operation: Rest('GET /timesheets/{timesheetId}', shared),
  }),
  pageEdge(Builder, 'timesheets', timesheets, 'builderId', 'The timesheets of the builder, by days of a time zone.', {
    args: [{ projectId: ProjectId, costCodeId: CostCodeId, status: TimesheetStatus }, DayRangeArgs],
    where: ({ projectId, costCodeId, status, ...days }: DayRangeArgs & Record<string, string | null>) => ({
      projectId,
      costCodeId,
      status,
      ...toDayRange(days),
    }),
  }),
  pageEdge(Project, 'timesheets', timesheets, 'projectId', 'The timesheets of the project.', {
    args: [{ status: TimesheetStatus }, DateRangeArgs],
  }),
];
