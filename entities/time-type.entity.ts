import { Unique } from '@mikro-orm/decorators/legacy';
import { TimeTypeId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { IdField, Reference, TextField } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';

/** Kind of worked time, such as ordinary or overtime (RED-25). */
@EntityType({
  scope: 'read:timesheets',
  tableName: 'timesheet_time_type',
  description: 'Kind of worked time, such as ordinary or overtime.',
})
@PersonalData<TimeType>({ mentions: ['name'] })
@Publishes('timesheet_time_type', 'time_type', { path: '/timesheets/time-types', tracked: false })
@Unique({ properties: ['builderId', 'name'] })
export class TimeType {
  @IdField(() => TimeTypeId, { description: 'Identifies the time type.' })
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @TextField({ description: 'Name, unique for the builder; timesheets carry it as `timeType`.' })
  name!: string;
}
