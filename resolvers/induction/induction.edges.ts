import { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { InductionStatus } from '../../schema/enums.ts';
import { ProjectId } from '../../schema/scalars.ts';
import { inductions } from '../../src/domain/readers/induction.reader.ts';
import { pageEdge } from '../edges.ts';

const args = [{ status: InductionStatus, projectId: ProjectId }];

export const inductionEdges = [
  pageEdge(Project, 'inductions', {
    description: 'The inductions to the project.',
    reader: inductions,
    by: 'projectId',
    args: [{ status: InductionStatus }],
  }),
  pageEdge(Subcontractor, 'inductions', {
    description: "The inductions of the subcontractor's workers.",
    reader: inductions,
    by: 'subcontractorId',
    args,
  }),
  pageEdge(Worker, 'inductions', { description: "The worker's inductions.", reader: inductions, by: 'workerId', args }),
];
