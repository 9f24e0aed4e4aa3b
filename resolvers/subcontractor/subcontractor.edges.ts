import { Builder } from '../../entities/builder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { SubcontractorSummary } from '../../entities/summaries.type.ts';
import { ProjectId } from '../../schema/scalars.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { pageEdge, summaryEdge } from '../edges.ts';
import { SubcontractorArgs, toSubcontractorFilters } from './subcontractor.input.ts';

export const subcontractorEdges = [
  pageEdge(Builder, 'subcontractors', {
    description: 'The subcontractors of the builder.',
    reader: subcontractors,
    by: 'builderId',
    args: [{ projectId: ProjectId }, SubcontractorArgs],
    where: ({ projectId, ...args }) => ({ projectId, ...toSubcontractorFilters(args) }),
  }),
  pageEdge(Project, 'subcontractors', {
    description: 'The subcontractors on the project, with their statuses on it.',
    reader: subcontractors,
    by: 'projectId',
    args: [SubcontractorArgs],
    where: toSubcontractorFilters,
  }),
  summaryEdge(SubcontractorSummary, {
    description: 'The whole subcontractor; null once it is archived.',
    reader: subcontractors,
    archivable: true,
  }),
];
