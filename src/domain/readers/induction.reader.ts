import { Induction } from '../../../entities/induction.entity.ts';
import { equal, searchBy } from '../../database/read/filter.ts';
import { Reader, type ReaderOptions } from '../../database/read/reader.ts';
import { belongsToActiveSubcontractor } from './subcontractor.reader.ts';

const summaries = {
  joins: `left join project on project.id = t.project_id
    left join worker on worker.id = t.worker_id
    left join subcontractor on subcontractor.id = t.subcontractor_id`,
  columns: {
    project: { from: 'project', fields: ['id', 'name', 'builderId'] },
    worker: { from: 'worker', fields: ['id', 'fullName', 'builderId'] },
    subcontractor: { from: 'subcontractor', fields: ['id', 'name', 'builderId', 'archivedAt'] },
  },
} satisfies ReaderOptions<never>;

export const inductions = new Reader(Induction, {
  ...summaries,
  filters: {
    ...equal('builderId', 'projectId', 'workerId', 'status'),
    subcontractorId: belongsToActiveSubcontractor,
    search: searchBy('worker_id', 'worker', 'full_name'),
  },
  exclude: ['data'],
});

/** Inductions with the answers of the worker. */
export const inductionDetails = new Reader(Induction, {
  ...summaries,
  name: 'InductionDetails',
  largeColumns: ['data'],
  filters: equal('builderId', 'projectId', 'id', 'identifier'),
});
