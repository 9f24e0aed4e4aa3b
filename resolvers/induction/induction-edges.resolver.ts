import { Arg, Args, ArgsType, Ctx, Field, FieldResolver, Resolver, Root } from 'type-graphql';
import { Induction } from '../../entities/induction.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { InductionStatus } from '../../schema/enums.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { GraphOnly } from '../../schema/rest.ts';
import { ProjectId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { inductions } from '../../src/domain/readers/induction.reader.ts';

const InductionPage = PageOf(Induction);

@ArgsType()
class InductionArgs {
  @Field(() => ProjectId, { nullable: true })
  projectId?: string | null;

  @Field(() => InductionStatus, { nullable: true })
  status?: InductionStatus | null;
}

@Resolver(() => Project)
export class ProjectInductionsResolver {
  @FieldResolver(() => InductionPage, { description: 'The inductions to the project.' })
  @GraphOnly()
  @Reads('id')
  inductions(
    @Root() project: Pick<Project, 'id'>,
    @Arg('status', () => InductionStatus, { nullable: true }) status: InductionStatus | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Induction>> {
    return loaders.page(inductions.reading(selection), 'projectId', project.id, { status }, windowOf(page));
  }
}

@Resolver(() => Subcontractor)
export class SubcontractorInductionsResolver {
  @FieldResolver(() => InductionPage, { description: "Its workers' inductions." })
  @GraphOnly()
  @Reads('id')
  inductions(
    @Root() subcontractor: Pick<Subcontractor, 'id'>,
    @Args() { projectId, status }: InductionArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Induction>> {
    return loaders.page(
      inductions.reading(selection),
      'subcontractorId',
      subcontractor.id,
      { projectId, status },
      windowOf(page),
    );
  }
}

@Resolver(() => Worker)
export class WorkerInductionsResolver {
  @FieldResolver(() => InductionPage, { description: "The worker's inductions." })
  @GraphOnly()
  @Reads('id')
  inductions(
    @Root() worker: Pick<Worker, 'id'>,
    @Args() { projectId, status }: InductionArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Induction>> {
    return loaders.page(inductions.reading(selection), 'workerId', worker.id, { projectId, status }, windowOf(page));
  }
}
