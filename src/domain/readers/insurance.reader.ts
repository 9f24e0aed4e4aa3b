import { Insurance } from '../../../entities/insurance.entity.ts';
import { equal, searchBy } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';
import { belongsToActiveSubcontractor } from './subcontractor.reader.ts';

export const insurances = new Reader(Insurance, {
  joins: 'left join subcontractor on subcontractor.id = t.subcontractor_id',
  columns: { subcontractor: { from: 'subcontractor', fields: ['id', 'name', 'builderId', 'archivedAt'] } },
  filters: {
    /** Only of subcontractors that are not archived. */
    builderId: {
      sql: `t.builder_id = :builderId and t.subcontractor_id in
        (select s.id from subcontractor s where s.builder_id = :builderId and s.archived_at is null)`,
    },
    subcontractorId: belongsToActiveSubcontractor,
    ...equal('type', 'status', 'customType'),
    expiresAfter: { column: 'expiry', op: 'from' },
    expiresBefore: { column: 'expiry', op: 'before' },
    startDate: { column: 'expiry', op: 'from' },
    endDate: { column: 'expiry', op: 'until' },
    search: searchBy('subcontractor_id', 'subcontractor', 'name'),
  },
});
