import { Defect } from '../../../entities/defect.entity.ts';
import { equal } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';

export const defects = new Reader(Defect, {
  largeColumns: ['description'],
  joins: 'left join project_location location on location.id = t.location_id',
  columns: { location: { from: 'location', fields: ['id', 'name'] } },
  filters: equal('builderId', 'projectId', 'status'),
});
