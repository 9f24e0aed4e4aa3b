import { ArgsType, Field } from 'type-graphql';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { Rest } from '../../schema/rest.ts';
import { ProjectId } from '../../schema/scalars.ts';
import { contacts } from '../../src/domain/readers/contact.reader.ts';
import { pageEdge } from '../edges.ts';
import { subcontractorPage } from '../queries.ts';

@ArgsType()
class ContactArgs {
  @Field(() => ProjectId, { nullable: true, description: 'Only contacts that are responsible for the project.' })
  projectId?: string | null;

  @Field(() => Boolean, { nullable: true })
  isPrimary?: boolean | null;
}

export const contactFields = [
  subcontractorPage('subcontractorContacts', contacts, 'The contacts of a subcontractor.', {
    operation: Rest('GET /subcontractors/{id}/contacts', { scope: 'read:contacts', tag: 'Subcontractors' }),
    args: [ContactArgs],
  }),
  pageEdge(Subcontractor, 'contacts', contacts, 'subcontractorId', 'The contacts of the subcontractor.', {
    args: [ContactArgs],
  }),
];
