import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SwmsDocument } from '../../entities/swms-document.entity.ts';
import { Rest } from '../../schema/rest.ts';
import { ProjectId, SwmsId } from '../../schema/scalars.ts';
import { swmsDocuments } from '../../src/domain/readers/swms.reader.ts';
import { documentUrl, pageEdge, subcontractorPage, subcontractorRecord } from '../fields.ts';

const shared = { scope: 'read:swms', tag: 'Subcontractors' } as const;

export const swmsFields = [
  documentUrl(SwmsDocument),
  subcontractorPage('subcontractorSwms', swmsDocuments, 'The SWMS documents of a subcontractor.', {
    operation: Rest('GET /subcontractors/{id}/swms', shared),
    args: [{ projectId: ProjectId }],
  }),
  subcontractorRecord(
    'swmsDocument',
    swmsDocuments,
    { swmsDocId: SwmsId },
    ['SWMS document', 'One SWMS document of a subcontractor.'],
    { operation: Rest('GET /subcontractors/{id}/swms/{swmsDocId}', shared) },
  ),
  pageEdge(Subcontractor, 'swms', swmsDocuments, 'subcontractorId', 'The SWMS documents of the subcontractor.', {
    args: [{ projectId: ProjectId }],
  }),
];
