import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { WorkerSummary } from '../../entities/summaries.type.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { siteAccesses, workers } from '../../src/domain/readers/worker.reader.ts';
import { pageEdge, recordEdge, summaryEdge } from '../edges.ts';

export const workerEdges = [
  recordEdge(Worker, 'subcontractor', {
    description: 'The subcontractor that the worker works for; null once it is archived.',
    reader: subcontractors,
    key: 'subcontractorId',
    nullable: true,
  }),
  pageEdge(Worker, 'siteAccess', {
    description: 'Site access of the worker, current and past.',
    reader: siteAccesses,
    by: 'workerId',
  }),
  pageEdge(Subcontractor, 'workers', {
    description: 'The workers of the subcontractor.',
    reader: workers,
    by: 'subcontractorId',
  }),
  summaryEdge(WorkerSummary, { description: 'The whole worker.', reader: workers }),
];
