import { ContactType } from '../schema/enums.ts';
import { ContactId, ProjectId } from '../schema/scalars.ts';
import { ChangeIndex, EnumField, IdField, ListIndex, TextField } from './columns.ts';
import { ColumnField, EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';
import { SubcontractorRecord } from './subcontractor.entity.ts';

/** A person to speak to about a subcontractor (RED-16). */
@EntityType({ scope: 'read:contacts', description: 'A contact person of a subcontractor.' })
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
export class Contact extends SubcontractorRecord {
  @IdField(() => ContactId, { description: 'Identifies the contact.' })
  id!: string;

  @TextField({ description: 'Full name of the person.' })
  name!: string;

  @TextField({ nullable: true, description: 'E-mail address of the person.' })
  email!: string | null;

  @TextField({ nullable: true, description: 'Telephone number, as it was entered.' })
  phone!: string | null;

  @ColumnField(() => Boolean, 'boolean', { default: false, description: 'Whether it is the primary contact.' })
  isPrimary!: boolean;

  @EnumField(() => ContactType)
  type!: ContactType;

  @ColumnField(() => [ProjectId], 'text[]', {
    default: [],
    description: 'The projects that the contact is responsible for.',
  })
  projectIds!: string[];
}
