import { Prequalification } from '../../../entities/prequalification.entity.ts';
import { Reader } from '../../database/read/reader.ts';
import { heldBySubcontractor } from './subcontractor.reader.ts';

export const prequalifications = new Reader(Prequalification, {
  largeColumns: ['reviewComments'],
  filters: {
    subcontractorId: heldBySubcontractor,
    status: 't.status = :status',
  },
});
