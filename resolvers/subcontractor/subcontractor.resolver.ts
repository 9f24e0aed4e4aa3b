import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorSummary } from '../../entities/summaries.type.ts';
import { Rest } from '../../schema/rest.ts';
import { ProjectId, SubcontractorId } from '../../schema/scalars.ts';
import { requireVisible } from '../../src/auth/authorization.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { builderPage, DescribedType, pageEdge, recordEdge, subcontractorPage, summaryEdge } from '../fields.ts';
import { SubcontractorArgs, toSubcontractorFilters } from './subcontractor.input.ts';

const ON_PROJECT = 'Only subcontractors of the project, with their statuses on it.';

export const subcontractorFields = [
  builderPage('subcontractors', subcontractors, 'The subcontractors of a builder, without the archived ones.', {
    operation: Rest('GET /subcontractors', { scope: 'read:subcontractors', tag: 'Subcontractors' }),
    args: [{ projectId: new DescribedType(ProjectId, ON_PROJECT) }, SubcontractorArgs],
    where: toSubcontractorFilters,
  }),
  subcontractorPage('subcontractorProjects', projects, 'The projects that a subcontractor is assigned to.', {
    operation: Rest('GET /subcontractors/{id}/projects', { scope: 'read:projects', tag: 'Subcontractors' }),
  }),
  pageEdge(Builder, 'subcontractors', subcontractors, 'builderId', 'The subcontractors of the builder.', {
    args: [{ projectId: ProjectId }, SubcontractorArgs],
    where: toSubcontractorFilters,
  }),
  pageEdge(
    Project,
    'subcontractors',
    subcontractors,
    'projectId',
    'The subcontractors on the project, with their statuses on it.',
    { args: [SubcontractorArgs], where: toSubcontractorFilters },
  ),
  summaryEdge(SubcontractorSummary, subcontractors, 'The whole subcontractor; null once it is archived.', {
    archivable: true,
  }),
  pageEdge(
    Subcontractor,
    'projects',
    projects,
    'subcontractorId',
    'The projects that the subcontractor is assigned to.',
  ),
  recordEdge(Subcontractor, 'builder', builders, 'builderId', 'The builder that the subcontractor works for.'),
];

@Resolver(() => Subcontractor)
export class SubcontractorResolver {
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
}
