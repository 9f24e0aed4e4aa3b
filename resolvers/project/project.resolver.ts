import { Builder } from '../../entities/builder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { ProjectSummary } from '../../entities/summaries.type.ts';
import { ProjectStatus } from '../../schema/enums.ts';
import { Rest } from '../../schema/rest.ts';
import { ProjectId } from '../../schema/scalars.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { builderPage, builderRecord, pageEdge, recordEdge, summaryEdge } from '../fields.ts';

const shared = { scope: 'read:projects', tag: 'Projects', params: { id: 'builderId' } } as const;

export const projectFields = [
  builderPage('projects', projects, 'The projects of a builder.', {
    operation: Rest('GET /builders/{id}/projects', shared),
    args: [{ status: ProjectStatus }],
  }),
  builderRecord('project', projects, { projectId: ProjectId }, ['Project', 'One project of a builder.'], {
    operation: Rest('GET /builders/{id}/projects/{projectId}', shared),
  }),
  recordEdge(Project, 'builder', builders, 'builderId', 'The builder of the project.'),
  pageEdge(Builder, 'projects', projects, 'builderId', 'The projects of the builder.', {
    args: [{ status: ProjectStatus }],
  }),
  summaryEdge(ProjectSummary, projects, 'The whole project.'),
];
