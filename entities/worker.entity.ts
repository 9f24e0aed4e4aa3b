import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { Scoped } from '../schema/rest.ts';
import { WorkerId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { Id, ListIndex, Reference, Timestamped } from './columns.ts';
import { Subcontractor } from './subcontractor.entity.ts';

/** A person who works on site for a subcontractor (RED-19). */
@ObjectType({ description: 'A person who works on site for a subcontractor.', simpleResolvers: true })
@Scoped('read:subcontractors')
@Entity()
@ListIndex('subcontractorId')
export class Worker extends Timestamped {
  @Field(() => WorkerId)
  @Id()
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Subcontractor)
  subcontractorId!: string;

  @Field(() => String)
  @Property({ type: 'text' })
  fullName!: string;
}
