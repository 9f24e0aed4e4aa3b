import { Index } from '@mikro-orm/decorators/legacy';
import { Field, Float } from 'type-graphql';
import { TimesheetStatus } from '../schema/enums.ts';
import { TimesheetGroupId, TimesheetId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { ChangeIndex, EnumField, IdField, InstantField, ListIndex, Reference, TextField, Tracked } from './columns.ts';
import { CostCode } from './cost-code.entity.ts';
import { ColumnField, EntityType } from './entity-type.ts';
import { KeepsTotal } from './list-total.entity.ts';
import { PersonalData } from './personal-data.ts';
import { Profile } from './profile.entity.ts';
import { Project } from './project.entity.ts';
import { Publishes } from './published.ts';
import { ProfileSummary, ProjectSummary } from './summaries.type.ts';
import { TimeType } from './time-type.entity.ts';

/** Hours that one person worked on one day (RED-23). */
@EntityType({ scope: 'read:timesheets', description: 'Hours that one person worked on one day.' })
@PersonalData<Timesheet>({ of: { profile: 'profileId' }, none: ['timesheetGroupId'], cleared: ['notes'] })
@Publishes('timesheet', 'timesheet', { path: '/timesheets/{id}', project: true })
@KeepsTotal('timesheet', 'status')
// The indexes include the filter columns, for index-only scans of pages and totals.
@ListIndex('builderId', { include: ['projectId', 'status', 'date'] })
@ListIndex('builderId', { secondFilter: 'status', include: ['projectId', 'date'] })
@ListIndex('projectId', { include: ['builderId', 'status', 'date'] })
@ListIndex('costCodeId', { include: ['builderId', 'projectId', 'status', 'date'] })
@ChangeIndex('builderId')
@Index({ properties: ['profileId', 'date'] })
@Index({
  properties: ['builderId', 'date', 'id'],
  include: ['createdAt', 'projectId', 'status', 'costCodeId', 'hours'],
})
export class Timesheet extends Tracked {
  @IdField(() => TimesheetId, { description: 'Identifies the timesheet in paths.' })
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Project)
  projectId!: string;

  @Reference(() => Profile)
  profileId!: string;

  @Reference(() => CostCode, { nullable: true })
  costCodeId!: string | null;

  @Reference(() => TimeType, { nullable: true })
  timeTypeId!: string | null;

  @EnumField(() => TimesheetStatus)
  status!: TimesheetStatus;

  @InstantField({ description: 'The day worked.' })
  date!: string;

  @ColumnField(() => Float, 'double', { description: 'Hours worked, as a decimal number.' })
  hours!: number;

  @TextField({ nullable: true, description: 'Notes of the person about the work.' })
  notes!: string | null;

  @ColumnField(() => TimesheetGroupId, 'text', {
    nullable: true,
    description: 'Group of timesheets that were submitted together.',
  })
  timesheetGroupId!: string | null;

  @Field(() => String, { nullable: true, description: 'Name of the time type.' })
  timeType!: string | null;

  @Field(() => String, { nullable: true, description: '`<code> - <description>` of the cost code.' })
  costCode!: string | null;

  @Field(() => ProfileSummary)
  profile!: ProfileSummary;

  @Field(() => ProjectSummary)
  project!: ProjectSummary;
}
