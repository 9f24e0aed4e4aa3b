import { Entity, Enum, Index, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { InsuranceStatus, InsuranceType } from '../schema/enums.ts';
import { GraphOnly, Scoped } from '../schema/rest.ts';
import { InsuranceId, Timestamp } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { Id, Instant, ListIndex, Reference, Timestamped } from './columns.ts';
import { Subcontractor } from './subcontractor.entity.ts';
import { SubcontractorSummary } from './summaries.type.ts';

/** An insurance document of a subcontractor (RED-14). */
@ObjectType({ description: 'An insurance document of a subcontractor.', simpleResolvers: true })
@Scoped('read:insurances')
@Entity()
@ListIndex('subcontractorId')
@Index({ properties: ['builderId', 'expiry'] })
@ListIndex('builderId')
export class Insurance extends Timestamped {
  @Field(() => InsuranceId, { description: 'Identifies the insurance in paths.' })
  @Id()
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Subcontractor)
  subcontractorId!: string;

  @Field(() => String, { description: 'Name of the document.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => InsuranceType)
  @Enum({ items: () => InsuranceType })
  type!: InsuranceType;

  @Field(() => String, { nullable: true, description: "The builder's own name of a type `OTHER`." })
  @Property({ type: 'text', nullable: true })
  customType!: string | null;

  @Field(() => InsuranceStatus)
  @Enum({ items: () => InsuranceStatus })
  status!: InsuranceStatus;

  @Field(() => Timestamp, { nullable: true, description: 'When the cover ends.' })
  @Instant({ nullable: true })
  expiry!: string | null;

  @Field(() => String, { nullable: true, description: 'HTTPS address of the document.' })
  @Property({ type: 'text', nullable: true })
  url!: string | null;

  /** Key of the document in the storage; takes precedence over `url`. */
  @Property({ type: 'text', nullable: true })
  documentKey!: string | null;

  @Field(() => SubcontractorSummary, { description: 'The subcontractor that it covers.' })
  @GraphOnly()
  subcontractor!: SubcontractorSummary;
}
