import { Insurance } from '../../../entities/insurance.entity.ts';
import { Reader } from '../../database/read/reader.ts';
import { toZoneDayFilters } from '../../database/read/zone-day.ts';
import { belongsToActiveSubcontractor } from './subcontractor.reader.ts';

export const insurances = new Reader(Insurance, {
  joins: 'left join subcontractor on subcontractor.id = t.subcontractor_id',
  columns: { subcontractor: { from: 'subcontractor', fields: ['id', 'name', 'builderId', 'archivedAt'] } },
  filters: {
    /** Only of subcontractors that are not archived. */
    builderId: `t.builder_id = :builderId and t.subcontractor_id in
      (select s.id from subcontractor s where s.builder_id = :builderId and s.archived_at is null)`,
    subcontractorId: belongsToActiveSubcontractor,
    type: 't.type = :type',
    status: 't.status = :status',
    customType: 't.custom_type = :customType',
    expiresAfter: 't.expiry >= :expiresAfter::timestamptz',
    expiresBefore: 't.expiry < :expiresBefore::timestamptz',
    earliest: 't.expiry >= :earliest::timestamptz',
    latest: 't.expiry <= :latest::timestamptz',
    ...toZoneDayFilters('expiry'),
  },
});
