import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { ContactType } from '../schema/enums.ts';
import { Scoped } from '../schema/rest.ts';
import { ContactId, ProjectId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { ChangeIndex, EnumField, IdField, ListIndex, Reference, TextField, Tracked } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';
import { Subcontractor } from './subcontractor.entity.ts';

/** A person to speak to about a subcontractor (RED-16). */
@ObjectType({ description: 'A contact person of a subcontractor.', simpleResolvers: true })
@Scoped('read:contacts')
@Entity()
@PersonalData<Contact>({
  of: { contact: 'id' },
  erase: 'delete',
  name: ['name'],
  email: ['email'],
  cleared: ['phone'],
  kept: ['projectIds'],
})
@Publishes('contact', 'contact', { path: '/subcontractors/{parentId}/contacts', parent: 'subcontractor_id' })
@ListIndex('subcontractorId')
@ChangeIndex('subcontractorId')
export class Contact extends Tracked {
  @IdField(() => ContactId, { description: 'Identifies the contact.' })
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Subcontractor)
  subcontractorId!: string;

  @TextField({ description: 'Full name of the person.' })
  name!: string;

  @TextField({ nullable: true, description: 'E-mail address of the person.' })
  email!: string | null;

  @TextField({ nullable: true, description: 'Telephone number, as it was entered.' })
  phone!: string | null;

  @Field(() => Boolean, { description: 'Whether it is the primary contact.' })
  @Property({ type: 'boolean', default: false })
  isPrimary!: boolean;

  @EnumField(() => ContactType)
  type!: ContactType;

  @Field(() => [ProjectId], { description: 'The projects that the contact is responsible for.' })
  @Property({ type: 'text[]', default: [] })
  projectIds!: string[];
}
