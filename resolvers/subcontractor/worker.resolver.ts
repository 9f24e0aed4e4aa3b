import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { WorkerSummary } from '../../entities/summaries.type.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { GraphOnly } from '../../schema/rest.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { siteAccesses, workers } from '../../src/domain/readers/worker.reader.ts';

const WorkerPage = PageOf(Worker);
const SiteAccessPage = PageOf(SiteAccess);

@Resolver(() => Worker)
export class WorkerResolver {
  @FieldResolver(() => Subcontractor, {
    nullable: true,
    description: 'Whom the worker works for; null once it is archived.',
  })
  @GraphOnly()
  @Reads('subcontractorId')
  subcontractor(
    @Root() worker: Pick<Worker, 'subcontractorId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Subcontractor | null> {
    return loaders.one(subcontractors.reading(selection), worker.subcontractorId);
  }

  @FieldResolver(() => SiteAccessPage, { description: 'The sites that the worker may enter, or once might.' })
  @GraphOnly()
  @Reads('id')
  siteAccess(
    @Root() worker: Pick<Worker, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SiteAccess>> {
    return loaders.page(siteAccesses.reading(selection), 'workerId', worker.id, {}, windowOf(page));
  }
}

@Resolver(() => Subcontractor)
export class SubcontractorWorkersResolver {
  @FieldResolver(() => WorkerPage, { description: 'The people who work on site for it.' })
  @GraphOnly()
  @Reads('id')
  workers(
    @Root() subcontractor: Pick<Subcontractor, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Worker>> {
    return loaders.page(workers.reading(selection), 'subcontractorId', subcontractor.id, {}, windowOf(page));
  }
}

@Resolver(() => WorkerSummary)
export class WorkerSummaryResolver {
  @FieldResolver(() => Worker, { description: 'The whole worker.' })
  @GraphOnly()
  @Reads('id', 'builderId')
  details(
    @Root() summary: Pick<WorkerSummary, 'id' | 'builderId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Worker | Promise<Worker | null> {
    return loaders.whole(workers.reading(selection), summary);
  }
}
