import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { PrequalificationStatus } from '../schema/enums.ts';
import { Scoped } from '../schema/rest.ts';
import { PrequalificationId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { Id, ListIndex, Reference, Timestamped } from './columns.ts';
import { Subcontractor } from './subcontractor.entity.ts';

/** A builder's check of a subcontractor before it may work (RED-13). */
@ObjectType({ description: "A builder's check of a subcontractor before it may work.", simpleResolvers: true })
@Scoped('read:prequalifications')
@Entity()
@ListIndex('subcontractorId')
export class Prequalification extends Timestamped {
  @Field(() => PrequalificationId, { description: 'Identifies the prequalification in paths.' })
  @Id()
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Subcontractor)
  subcontractorId!: string;

  @Field(() => PrequalificationStatus)
  @Enum({ items: () => PrequalificationStatus })
  status!: PrequalificationStatus;

  @Field(() => String, { nullable: true, description: "The reviewer's comments." })
  @Property({ type: 'text', nullable: true })
  reviewComments!: string | null;
}
