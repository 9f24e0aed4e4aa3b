import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { PrequalificationStatus } from '../../schema/enums.ts';
import { Rest } from '../../schema/rest.ts';
import { PrequalificationId } from '../../schema/scalars.ts';
import { prequalifications } from '../../src/domain/readers/prequalification.reader.ts';
import { pageEdge, subcontractorPage, subcontractorRecord } from '../fields.ts';

const shared = { scope: 'read:prequalifications', tag: 'Subcontractors' } as const;

export const prequalificationFields = [
  subcontractorPage('subcontractorPrequalifications', prequalifications, 'The prequalifications of a subcontractor.', {
    operation: Rest('GET /subcontractors/{id}/prequalifications', shared),
    args: [{ status: PrequalificationStatus }],
  }),
  subcontractorRecord(
    'prequalification',
    prequalifications,
    { prequalId: PrequalificationId },
    ['Prequalification', 'One prequalification of a subcontractor.'],
    { operation: Rest('GET /subcontractors/{id}/prequalifications/{prequalId}', shared) },
  ),
  pageEdge(
    Subcontractor,
    'prequalifications',
    prequalifications,
    'subcontractorId',
    'The prequalifications of the subcontractor.',
    { args: [{ status: PrequalificationStatus }] },
  ),
];
