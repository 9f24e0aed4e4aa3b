import { Entity, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { Scoped } from '../schema/rest.ts';
import { CostCodeId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { Id, Reference } from './columns.ts';

/** What worked hours are booked to (RED-25). */
@ObjectType({ description: 'What worked hours are booked to.', simpleResolvers: true })
@Scoped('read:timesheets')
@Entity({ tableName: 'timesheet_cost_code' })
@Unique({ properties: ['builderId', 'code'] })
export class CostCode {
  @Field(() => CostCodeId, { description: 'Identifies the cost code.' })
  @Id()
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Field(() => String, { description: 'Code, unique for the builder.' })
  @Property({ type: 'text' })
  code!: string;

  @Field(() => String, { description: 'What the code stands for.' })
  @Property({ type: 'text' })
  description!: string;
}
