import { Contact } from '../../../entities/contact.entity.ts';
import { Reader } from '../../database/read/reader.ts';
import { belongsToActiveSubcontractor } from './subcontractor.reader.ts';

export const contacts = new Reader(Contact, {
  filters: {
    subcontractorId: belongsToActiveSubcontractor,
    projectId: ':projectId = any(t.project_ids)',
    isPrimary: 't.is_primary = :isPrimary::boolean',
  },
});
