import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { WorkerSummary } from '../../entities/summaries.type.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { siteAccesses, workers } from '../../src/domain/readers/worker.reader.ts';
import { pageEdge, recordEdge, summaryEdge } from '../fields.ts';

export const workerEdges = [
  recordEdge(
    Worker,
    'subcontractor',
    subcontractors,
    'subcontractorId',
    'The subcontractor that the worker works for; null once it is archived.',
    { nullable: true },
  ),
  pageEdge(Worker, 'siteAccess', siteAccesses, 'workerId', 'Site access of the worker, current and past.'),
  pageEdge(Subcontractor, 'workers', workers, 'subcontractorId', 'The workers of the subcontractor.'),
  summaryEdge(WorkerSummary, workers, 'The whole worker.'),
];
