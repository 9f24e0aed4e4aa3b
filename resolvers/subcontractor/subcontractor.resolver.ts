import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { createPageType, type Page, PageArgs, toPageWindow } from '../../schema/page.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId, ProjectId, SubcontractorId } from '../../schema/scalars.ts';
import { Selected, type Selection } from '../../schema/selection.ts';
import { requireVisible } from '../../src/auth/authorization.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { pageEdge, recordEdge } from '../edges.ts';
import { SubcontractorArgs, toSubcontractorFilters } from './subcontractor.input.ts';
import { authorizeSubcontractorPage } from './subcontractor-authorization.ts';

const SubcontractorPage = createPageType(Subcontractor);
const ProjectPage = createPageType(Project);

@Resolver(() => Subcontractor)
export class SubcontractorResolver {
  @Query(() => SubcontractorPage, { description: 'The subcontractors of a builder, without the archived ones.' })
  @Rest('GET /subcontractors', { scope: 'read:subcontractors', tag: 'Subcontractors' })
  subcontractors(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId, {
      nullable: true,
      description: 'Only subcontractors of the project, with their statuses on it.',
    })
    projectId: string | null,
    @Args() args: SubcontractorArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { database }: RequestContext,
  ): Promise<Page<Subcontractor>> {
    return subcontractors
      .select(selection)
      .findPage(database, { builderId, projectId, ...toSubcontractorFilters(args) }, toPageWindow(page));
  }

  @Query(() => Subcontractor, {
    description: "One subcontractor; the builder's company record only with `includeBuilderCompany`.",
  })
  @Rest('GET /subcontractors/{id}', { scope: 'read:subcontractors', tag: 'Subcontractors' })
  async subcontractor(
    @Arg('id', () => SubcontractorId) id: string,
    @Arg('projectId', () => ProjectId, { nullable: true, description: 'Only the statuses on the project.' })
    projectId: string | null,
    @Args() args: SubcontractorArgs,
    @Ctx() context: RequestContext,
  ): Promise<Subcontractor> {
    const where = { statusesOn: projectId, ...toSubcontractorFilters(args) };
    const subcontractor = await subcontractors.findOne(context.database, id, where);
    return requireVisible(context, subcontractor, 'read:subcontractors', 'Subcontractor');
  }

  @Query(() => ProjectPage, { description: 'The projects that a subcontractor is assigned to.' })
  @Rest('GET /subcontractors/{id}/projects', { scope: 'read:projects', tag: 'Subcontractors' })
  async subcontractorProjects(
    @Arg('id', () => SubcontractorId) id: string,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() context: RequestContext,
  ): Promise<Page<Project>> {
    const found = await projects
      .select(selection)
      .findPage(context.database, { subcontractorId: id }, toPageWindow(page));
    return authorizeSubcontractorPage(context, id, 'read:projects', found);
  }
}

export const subcontractorRecordEdges = [
  pageEdge(Subcontractor, 'projects', {
    description: 'The projects that the subcontractor is assigned to.',
    reader: projects,
    by: 'subcontractorId',
  }),
  recordEdge(Subcontractor, 'builder', {
    description: 'The builder that the subcontractor works for.',
    reader: builders,
    key: 'builderId',
  }),
];
