import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorSummary } from '../../entities/summaries.type.ts';
import { GraphOnly } from '../../schema/rest.ts';
import { ProjectId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { pageEdge } from '../edges.ts';
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
    description: 'The subcontractors on the project, with what they have reached there.',
    reader: subcontractors,
    by: 'projectId',
    args: [SubcontractorArgs],
    where: toSubcontractorFilters,
  }),
];

@Resolver(() => SubcontractorSummary)
export class SubcontractorSummaryResolver {
  @FieldResolver(() => Subcontractor, {
    nullable: true,
    description: 'The whole subcontractor; null once it is archived.',
  })
  @GraphOnly()
  @Reads('id', 'builderId', 'archivedAt')
  details(
    @Root() summary: Pick<SubcontractorSummary, 'id' | 'builderId' | 'archivedAt'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Subcontractor | null | Promise<Subcontractor | null> {
    return summary.archivedAt ? null : loaders.loadFromSummary(subcontractors.select(selection), summary);
  }
}
