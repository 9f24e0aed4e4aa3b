import { Arg, Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { SignOnConflictCode } from '../../schema/enums.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { GraphOnly } from '../../schema/rest.ts';
import { ProjectId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { signOnConflicts, signOnEvents, visits } from '../../src/domain/readers/attendance.reader.ts';
import { DayArgs } from './attendance.input.ts';

/*
 * Attendance for people: what gates have observed, and what they could not agree on. Internal clients alone hold the scope.
 * ATT-29 to ATT-32.
 */

const VisitPage = PageOf(SignOnVisit);
const EventPage = PageOf(SignOnEvent);
const ConflictPage = PageOf(SignOnConflict);

const ATTENDANCE = 'The visits that began on a day, without the archived ones.';
const OPEN_VISITS = 'The visits that have not ended.';
const PENDING = 'The sign-offs that wait for their sign-on.';
const REJECTED = 'The sign-offs that have waited, and then contradicted their sign-on.';
const CONFLICTS = 'The events that were refused with 409. The same request sent again is the same conflict.';

@Resolver(() => Project)
export class ProjectAttendanceResolver {
  @FieldResolver(() => VisitPage, { description: ATTENDANCE })
  @GraphOnly()
  @Reads('id')
  attendance(
    @Root() project: Pick<Project, 'id'>,
    @Args() { date, timeZone }: DayArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SignOnVisit>> {
    const where = { date, timeZone: timeZone ?? 'UTC', kept: true };
    return loaders.page(visits.reading(selection), 'projectId', project.id, where, windowOf(page));
  }

  @FieldResolver(() => VisitPage, { description: OPEN_VISITS })
  @GraphOnly()
  @Reads('id')
  openVisits(
    @Root() project: Pick<Project, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SignOnVisit>> {
    return loaders.page(visits.reading(selection), 'projectId', project.id, { open: true }, windowOf(page));
  }

  @FieldResolver(() => EventPage, { description: PENDING })
  @GraphOnly()
  @Reads('id')
  pendingSignOffs(
    @Root() project: Pick<Project, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SignOnEvent>> {
    return loaders.page(
      signOnEvents.reading(selection),
      'projectId',
      project.id,
      { unsettled: 'PENDING_SIGN_ON' },
      windowOf(page),
    );
  }

  @FieldResolver(() => EventPage, { description: REJECTED })
  @GraphOnly()
  @Reads('id')
  rejectedSignOffs(
    @Root() project: Pick<Project, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SignOnEvent>> {
    return loaders.page(
      signOnEvents.reading(selection),
      'projectId',
      project.id,
      { unsettled: 'REJECTED' },
      windowOf(page),
    );
  }

  @FieldResolver(() => ConflictPage, { description: CONFLICTS })
  @GraphOnly()
  @Reads('id')
  signOnConflicts(
    @Root() project: Pick<Project, 'id'>,
    @Arg('code', () => SignOnConflictCode, { nullable: true }) code: SignOnConflictCode | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SignOnConflict>> {
    return loaders.page(signOnConflicts.reading(selection), 'projectId', project.id, { code }, windowOf(page));
  }
}

@Resolver(() => Builder)
export class BuilderAttendanceResolver {
  @FieldResolver(() => VisitPage, { description: OPEN_VISITS })
  @GraphOnly()
  @Reads('id')
  openVisits(
    @Root() builder: Pick<Builder, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SignOnVisit>> {
    return loaders.page(visits.reading(selection), 'builderId', builder.id, { open: true }, windowOf(page));
  }

  @FieldResolver(() => EventPage, { description: PENDING })
  @GraphOnly()
  @Reads('id')
  pendingSignOffs(
    @Root() builder: Pick<Builder, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SignOnEvent>> {
    return loaders.page(
      signOnEvents.reading(selection),
      'builderId',
      builder.id,
      { unsettled: 'PENDING_SIGN_ON' },
      windowOf(page),
    );
  }

  @FieldResolver(() => EventPage, { description: REJECTED })
  @GraphOnly()
  @Reads('id')
  rejectedSignOffs(
    @Root() builder: Pick<Builder, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SignOnEvent>> {
    return loaders.page(
      signOnEvents.reading(selection),
      'builderId',
      builder.id,
      { unsettled: 'REJECTED' },
      windowOf(page),
    );
  }

  @FieldResolver(() => ConflictPage, { description: CONFLICTS })
  @GraphOnly()
  @Reads('id')
  signOnConflicts(
    @Root() builder: Pick<Builder, 'id'>,
    @Arg('code', () => SignOnConflictCode, { nullable: true }) code: SignOnConflictCode | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SignOnConflict>> {
    return loaders.page(signOnConflicts.reading(selection), 'builderId', builder.id, { code }, windowOf(page));
  }
}

@Resolver(() => Worker)
export class WorkerVisitsResolver {
  @FieldResolver(() => VisitPage, { description: "The worker's visits, the archived ones included." })
  @GraphOnly()
  @Reads('id')
  visits(
    @Root() worker: Pick<Worker, 'id'>,
    @Arg('projectId', () => ProjectId, { nullable: true }) projectId: string | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SignOnVisit>> {
    return loaders.page(visits.reading(selection), 'workerId', worker.id, { projectId }, windowOf(page));
  }
}

@Resolver(() => SignOnVisit)
export class SignOnVisitResolver {
  @FieldResolver(() => EventPage, { description: 'The sign-on that began it and the sign-off that ended it.' })
  @GraphOnly()
  @Reads('id')
  events(
    @Root() visit: Pick<SignOnVisit, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<SignOnEvent>> {
    return loaders.page(signOnEvents.reading(selection), 'visitId', visit.id, {}, windowOf(page));
  }
}

@Resolver(() => SignOnEvent)
export class SignOnEventVisitResolver {
  @FieldResolver(() => SignOnVisit, { nullable: true, description: 'The visit that it began or ended.' })
  @GraphOnly()
  @Reads('visitId')
  visit(
    @Root() { visitId }: Pick<SignOnEvent, 'visitId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<SignOnVisit | null> | null {
    return visitId === null ? null : loaders.one(visits.reading(selection), visitId);
  }
}
