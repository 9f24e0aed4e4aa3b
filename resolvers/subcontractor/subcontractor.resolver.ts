import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { GraphOnly, Rest } from '../../schema/rest.ts';
import { BuilderId, ProjectId, SubcontractorId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import { visible } from '../access.ts';
import { builders } from '../builder/builder.reader.ts';
import type { Context } from '../context.ts';
import { projects } from '../project/project.reader.ts';
import { heldPage } from './held.ts';
import { SubcontractorArgs, subcontractorFilters } from './subcontractor.input.ts';
import { subcontractors } from './subcontractor.reader.ts';

const SubcontractorPage = PageOf(Subcontractor);
const ProjectPage = PageOf(Project);

@Resolver(() => Subcontractor)
export class SubcontractorResolver {
  @Query(() => SubcontractorPage, { description: 'The subcontractors of a builder, without the archived ones.' })
  @Rest('GET /subcontractors', { scope: 'read:subcontractors', tag: 'Subcontractors' })
  subcontractors(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId, {
      nullable: true,
      description: 'Only those on the project, with what they have reached there.',
    })
    projectId: string | null,
    @Args() args: SubcontractorArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { database }: Context,
  ): Promise<Page<Subcontractor>> {
    return subcontractors
      .reading(selection)
      .page(database, { builderId, projectId, ...subcontractorFilters(args) }, windowOf(page));
  }

  @Query(() => Subcontractor, {
    description: "One subcontractor; the builder's company record only when it is asked for.",
  })
  @Rest('GET /subcontractors/{id}', { scope: 'read:subcontractors', tag: 'Subcontractors' })
  async subcontractor(
    @Arg('id', () => SubcontractorId) id: string,
    @Arg('projectId', () => ProjectId, { nullable: true, description: 'Only what it has reached on the project.' })
    projectId: string | null,
    @Args() args: SubcontractorArgs,
    @Ctx() context: Context,
  ): Promise<Subcontractor> {
    const where = { statusesOn: projectId, ...subcontractorFilters(args) };
    const subcontractor = await subcontractors.one(context.database, id, where);
    return visible(context, subcontractor, 'read:subcontractors', 'Subcontractor');
  }

  @Query(() => ProjectPage, { description: 'The projects that a subcontractor is on.' })
  @Rest('GET /subcontractors/{id}/projects', { scope: 'read:projects', tag: 'Subcontractors' })
  async subcontractorProjects(
    @Arg('id', () => SubcontractorId) id: string,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() context: Context,
  ): Promise<Page<Project>> {
    const found = await projects.reading(selection).page(context.database, { subcontractorId: id }, windowOf(page));
    return heldPage(context, id, 'read:projects', found);
  }

  @FieldResolver(() => ProjectPage, { description: 'The projects that it is on.' })
  @GraphOnly()
  @Reads('id')
  projects(
    @Root() subcontractor: Pick<Subcontractor, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: Context,
  ): Promise<Page<Project>> {
    return loaders.page(projects.reading(selection), 'subcontractorId', subcontractor.id, {}, windowOf(page));
  }

  @FieldResolver(() => Builder, { description: 'The builder that it works for.' })
  @GraphOnly()
  @Reads('builderId')
  builder(
    @Root() subcontractor: Pick<Subcontractor, 'builderId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: Context,
  ): Promise<Builder | null> {
    return loaders.one(builders.reading(selection), subcontractor.builderId);
  }
}
