import { SwmsDocument } from '../../../entities/swms-document.entity.ts';
import { equal } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';
import { belongsToActiveSubcontractor } from './subcontractor.reader.ts';

export const swmsDocuments = new Reader(SwmsDocument, {
  filters: { subcontractorId: belongsToActiveSubcontractor, ...equal('projectId') },
});
