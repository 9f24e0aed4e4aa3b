import { Contact } from '../../../entities/contact.entity.ts';
import { Reader } from '../../database/read/reader.ts';
import { belongsToActiveSubcontractor } from './subcontractor.reader.ts';

export const contacts = new Reader(Contact, {
  filters: {
    subcontractorId: belongsToActiveSubcontractor,
    projectId: { sql: ':projectId = any(t.project_ids)' },
    isPrimary: { column: 'is_primary', op: 'eq' },
  },
});
