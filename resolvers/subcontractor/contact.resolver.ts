import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { Rest } from '../../schema/rest.ts';
import { ProjectId } from '../../schema/scalars.ts';
import { contacts } from '../../src/domain/readers/contact.reader.ts';
import { DescribedType, pageEdge, subcontractorPage } from '../fields.ts';

const args = [
  {
    isPrimary: Boolean,
    projectId: new DescribedType(ProjectId, 'Only contacts that are responsible for the project.'),
  },
];

export const contactFields = [
  subcontractorPage('subcontractorContacts', contacts, 'The contacts of a subcontractor.', {
    operation: Rest('GET /subcontractors/{id}/contacts', { scope: 'read:contacts', tag: 'Subcontractors' }),
    args,
  }),
  pageEdge(Subcontractor, 'contacts', contacts, 'subcontractorId', 'The contacts of the subcontractor.', {
    args,
  }),
];
