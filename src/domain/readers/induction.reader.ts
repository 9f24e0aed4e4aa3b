import { Induction } from '../../../entities/induction.entity.ts';
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
    builderId: { column: 'builder_id', op: 'eq' },
    projectId: { column: 'project_id', op: 'eq' },
    subcontractorId: belongsToActiveSubcontractor,
    workerId: { column: 'worker_id', op: 'eq' },
    status: { column: 'status', op: 'eq' },
  },
  exclude: ['data'],
});

/** Inductions with the answers of the worker. */
export const inductionDetails = new Reader(Induction, {
  ...summaries,
  name: 'InductionDetails',
  largeColumns: ['data'],
  filters: {
    builderId: { column: 'builder_id', op: 'eq' },
    projectId: { column: 'project_id', op: 'eq' },
    id: { column: 'id', op: 'eq' },
    identifier: { column: 'identifier', op: 'eq' },
  },
});
