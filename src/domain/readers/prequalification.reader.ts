import { Prequalification } from '../../../entities/prequalification.entity.ts';
import { equal } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';
import { belongsToActiveSubcontractor } from './subcontractor.reader.ts';

export const prequalifications = new Reader(Prequalification, {
  largeColumns: ['reviewComments'],
  filters: { subcontractorId: belongsToActiveSubcontractor, ...equal('status') },
});
