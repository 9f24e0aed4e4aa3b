import { SwmsDocument } from '../../../entities/swms-document.entity.ts';
import { Reader } from '../../database/read/reader.ts';
import { heldBySubcontractor } from './subcontractor.reader.ts';

export const swmsDocuments = new Reader(SwmsDocument, {
  filters: {
    subcontractorId: heldBySubcontractor,
    projectId: 't.project_id = :projectId',
  },
});
