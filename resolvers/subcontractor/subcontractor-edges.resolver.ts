import { Arg, Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorSummary } from '../../entities/summaries.type.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { GraphOnly } from '../../schema/rest.ts';
import { ProjectId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { SubcontractorArgs, subcontractorFilters } from './subcontractor.input.ts';

const SubcontractorPage = PageOf(Subcontractor);

@Resolver(() => Builder)
export class BuilderSubcontractorsResolver {
  @FieldResolver(() => SubcontractorPage, { description: 'The subcontractors of the builder.' })
  @GraphOnly()
  @Reads('id')
  subcontractors(
    @Root() builder: Pick<Builder, 'id'>,
    @Arg('projectId', () => ProjectId, { nullable: true }) projectId: string | null,
    @Args() args: SubcontractorArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Subcontractor>> {
    const where = { projectId, ...subcontractorFilters(args) };
    return loaders.page(subcontractors.reading(selection), 'builderId', builder.id, where, windowOf(page));
  }
}

@Resolver(() => Project)
export class ProjectSubcontractorsResolver {
  @FieldResolver(() => SubcontractorPage, {
    description: 'The subcontractors on the project, with what they have reached there.',
  })
  @GraphOnly()
  @Reads('id')
  subcontractors(
    @Root() project: Pick<Project, 'id'>,
    @Args() args: SubcontractorArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Subcontractor>> {
    return loaders.page(
      subcontractors.reading(selection),
      'projectId',
      project.id,
      subcontractorFilters(args),
      windowOf(page),
    );
  }
}

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
    return summary.archivedAt ? null : loaders.whole(subcontractors.reading(selection), summary);
  }
}
