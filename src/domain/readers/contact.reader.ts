import { Contact } from '../../../entities/contact.entity.ts';
import { Reader } from '../../database/read/reader.ts';
import { heldBySubcontractor } from './subcontractor.reader.ts';

export const contacts = new Reader(Contact, {
  filters: {
    subcontractorId: heldBySubcontractor,
    projectId: ':projectId = any(t.project_ids)',
    isPrimary: 't.is_primary = :isPrimary::boolean',
  },
});
