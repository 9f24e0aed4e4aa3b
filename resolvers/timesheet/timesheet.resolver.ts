import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { CostCode } from '../../entities/cost-code.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { TimeType } from '../../entities/time-type.entity.ts';
import { Timesheet } from '../../entities/timesheet.entity.ts';
import { TimesheetStatus } from '../../schema/enums.ts';
import { createListType } from '../../schema/list.ts';
import { createPageType, type Page, PageArgs } from '../../schema/page.ts';
import { DateRangeArgs, DayRangeArgs, toDayRange } from '../../schema/range.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId, CostCodeId, ProjectId, TimesheetId } from '../../schema/scalars.ts';
import { Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { costCodes, timesheets, timeTypes } from '../../src/domain/readers/timesheet.reader.ts';
import { requireFound } from '../../src/domain/require-found.ts';
import { pageEdge } from '../edges.ts';

const TimesheetPage = createPageType(Timesheet);
const CostCodeList = createListType(CostCode);
const TimeTypeList = createListType(TimeType);

@Resolver(() => Timesheet)
export class TimesheetResolver {
  @Query(() => TimesheetPage, { description: 'The timesheets of a builder.' })
  @Rest('GET /timesheets', { scope: 'read:timesheets', tag: 'Timesheets' })
  timesheets(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId, { nullable: true }) projectId: string | null,
    @Arg('status', () => TimesheetStatus, { nullable: true }) status: TimesheetStatus | null,
    @Args() range: DateRangeArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { database }: RequestContext,
  ): Promise<Page<Timesheet>> {
    return timesheets.select(selection).findPage(database, { builderId, projectId, status, ...range }, page);
  }

  @Query(() => Timesheet, { description: 'One timesheet.' })
  @Rest('GET /timesheets/{timesheetId}', { scope: 'read:timesheets', tag: 'Timesheets' })
  timesheet(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('timesheetId', () => TimesheetId) timesheetId: string,
    @Ctx() { database }: RequestContext,
  ): Promise<Timesheet> {
    return requireFound(timesheets.findOne(database, timesheetId, { builderId }), 'Timesheet');
  }

  @Query(() => CostCodeList, { description: 'The cost codes of a builder, by code.' })
  @Rest('GET /timesheets/cost-codes', { scope: 'read:timesheets', tag: 'Timesheets' })
  async costCodes(@Arg('builderId', () => BuilderId) builderId: string, @Ctx() { database }: RequestContext) {
    return { data: await costCodes.findAll(database, { builderId }) };
  }

  @Query(() => TimeTypeList, { description: 'The time types of a builder, by name.' })
  @Rest('GET /timesheets/time-types', { scope: 'read:timesheets', tag: 'Timesheets' })
  async timeTypes(@Arg('builderId', () => BuilderId) builderId: string, @Ctx() { database }: RequestContext) {
    return { data: await timeTypes.findAll(database, { builderId }) };
  }
}

export const timesheetEdges = [
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
