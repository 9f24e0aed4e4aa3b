import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { ContactType } from '../schema/enums.ts';
import { Scoped } from '../schema/rest.ts';
import { ContactId, ProjectId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { Id, ListIndex, Reference, Timestamped } from './columns.ts';
import { Subcontractor } from './subcontractor.entity.ts';

/** A person to speak to about a subcontractor (RED-16). */
@ObjectType({ description: 'A person to speak to about a subcontractor.', simpleResolvers: true })
@Scoped('read:contacts')
@Entity()
@ListIndex('subcontractorId')
export class Contact extends Timestamped {
  @Field(() => ContactId, { description: 'Identifies the contact.' })
  @Id()
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Subcontractor)
  subcontractorId!: string;

  @Field(() => String, { description: 'Full name of the person.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'E-mail address of the person.' })
  @Property({ type: 'text', nullable: true })
  email!: string | null;

  @Field(() => String, { nullable: true, description: 'Telephone number, as it was entered.' })
  @Property({ type: 'text', nullable: true })
  phone!: string | null;

  @Field(() => Boolean, { description: 'Whether it is the person to ask first.' })
  @Property({ type: 'boolean', default: false })
  isPrimary!: boolean;

  @Field(() => ContactType)
  @Enum({ items: () => ContactType })
  type!: ContactType;

  @Field(() => [ProjectId], { description: 'The projects that the person answers for.' })
  @Property({ type: 'text[]', default: [] })
  projectIds!: string[];
}
