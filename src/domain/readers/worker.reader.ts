import { SiteAccess } from '../../../entities/site-access.entity.ts';
import { Worker } from '../../../entities/worker.entity.ts';
import { equal, searchOf } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';
import { belongsToActiveSubcontractor } from './subcontractor.reader.ts';

export const workers = new Reader(Worker, {
  filters: {
    ...equal('builderId', 'id'),
    subcontractorId: belongsToActiveSubcontractor,
    search: searchOf('t.full_name'),
  },
});

export const siteAccesses = new Reader(SiteAccess, {
  joins: 'left join project on project.id = t.project_id',
  columns: { project: { from: 'project', fields: ['id', 'name', 'builderId'] } },
  filters: equal('workerId'),
  orderBy: 'granted_at',
});
