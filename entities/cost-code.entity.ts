import { Unique } from '@mikro-orm/decorators/legacy';
import { CostCodeId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { IdField, Reference, TextField } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';

/** What worked hours are booked to (RED-25). */
@EntityType({
  scope: 'read:timesheets',
  tableName: 'timesheet_cost_code',
  description: 'A cost code, to which worked hours are booked.',
})
@PersonalData<CostCode>({ mentions: ['code', 'description'] })
@Publishes('timesheet_cost_code', 'cost_code', { path: '/timesheets/cost-codes', tracked: false })
@Unique({ properties: ['builderId', 'code'] })
export class CostCode {
  @IdField(() => CostCodeId, { description: 'Identifies the cost code.' })
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @TextField({ description: 'Code, unique for the builder.' })
  code!: string;

  @TextField({ description: 'Description of the code.' })
  description!: string;
}
