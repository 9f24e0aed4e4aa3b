import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { ProjectSummary } from '../../entities/summaries.type.ts';
import { ProjectStatus } from '../../schema/enums.ts';
import { createPageType, type Page, PageArgs } from '../../schema/page.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId, ProjectId } from '../../schema/scalars.ts';
import { Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { requireFound } from '../../src/domain/require-found.ts';
import { pageEdge, recordEdge, summaryEdge } from '../edges.ts';

const ProjectPage = createPageType(Project);

@Resolver(() => Project)
export class ProjectResolver {
  @Query(() => ProjectPage, { description: 'The projects of a builder.' })
  @Rest('GET /builders/{id}/projects', { scope: 'read:projects', tag: 'Projects', params: { id: 'builderId' } })
  projects(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('status', () => ProjectStatus, { nullable: true }) status: ProjectStatus | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { database }: RequestContext,
  ): Promise<Page<Project>> {
    return projects.select(selection).findPage(database, { builderId, status }, page);
  }

  @Query(() => Project, { description: 'One project of a builder.' })
  @Rest('GET /builders/{id}/projects/{projectId}', {
    scope: 'read:projects',
    tag: 'Projects',
    params: { id: 'builderId' },
  })
  project(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId) projectId: string,
    @Ctx() { database }: RequestContext,
  ): Promise<Project> {
    return requireFound(projects.findOne(database, projectId, { builderId }), 'Project');
  }
}

export const projectEdges = [
  recordEdge(Project, 'builder', builders, 'builderId', 'The builder of the project.'),
  pageEdge(Builder, 'projects', projects, 'builderId', 'The projects of the builder.', {
    args: [{ status: ProjectStatus }],
  }),
  summaryEdge(ProjectSummary, projects, 'The whole project.'),
];
