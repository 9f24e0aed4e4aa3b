import { Arg, Args, ArgsType, Ctx, Field, Query, Resolver } from 'type-graphql';
import { SignOnConflictStatus, SignOnEventStatus } from '../../schema/enums.ts';
import { ListCursor } from '../../schema/list-cursor.scalar.ts';
import { toDateRange, UtcRangeArgs } from '../../schema/range.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId, createIntegerScalar, ProjectId, RangeStart, SignOnEventId } from '../../schema/scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import {
  MAX_CHANGES,
  OWN_CONFLICTS,
  OWN_EVENTS,
  ROSTER,
  readChanges,
} from '../../src/domain/attendance/change-lists.ts';
import { notFound } from '../../src/shared/errors.ts';
import { GateText, GateWorkerId } from './attendance.input.ts';
import {
  OwnSignOnConflictPage,
  OwnSignOnEvent,
  OwnSignOnEventPage,
  RosterEntry,
  RosterEntryPage,
} from './gate-lists.type.ts';

const ChangeLimit = createIntegerScalar('ChangeLimit', 'Changes to return', 1, MAX_CHANGES, MAX_CHANGES, MAX_CHANGES);

@ArgsType()
class ChangeWindowArgs {
  @Field(() => ChangeLimit, {
    nullable: true,
    description: `Items to return, 1 to ${MAX_CHANGES}. Default ${MAX_CHANGES}.`,
  })
  limit?: number | null;

  @Field(() => ListCursor, {
    nullable: true,
    description: '`nextCursor` of an earlier page, or empty for the first page.',
  })
  cursor?: string | null;

  @Field(() => RangeStart, { nullable: true, description: 'Only items whose `updatedAt` is this time or later.' })
  updatedSince?: string | null;
}

@ArgsType()
class OwnEventFilterArgs extends UtcRangeArgs {
  @Field(() => GateText, { nullable: true, description: 'The event with this identifier.' })
  sourceEventId?: string | null;

  @Field(() => GateWorkerId, { nullable: true, description: 'Events of this worker.' })
  workerId?: string | null;

  @Field(() => SignOnEventStatus, { nullable: true, description: 'Events with this result.' })
  status?: SignOnEventStatus | null;
}

const ofGate = { scope: 'write:sign_on_events', tag: 'Gate attendance', extension: true } as const;

/** What a gate needs to know, and what became of the events that it sent. */
@Resolver()
export class GateListsResolver {
  @Query(() => RosterEntryPage, {
    description:
      'The workers who have or had access to the site of a project, in the order of their last change. Revoked ones stay in the list. It informs; it never decides who may enter.',
  })
  @Rest('GET /builders/{builderId}/projects/{projectId}/site-access', ofGate)
  async siteAccess(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId) projectId: string,
    @Args() window: ChangeWindowArgs,
    @Ctx() { caller, database }: RequestContext,
  ): Promise<InstanceType<typeof RosterEntryPage>> {
    caller.requireIntegrator();
    const scope = 'read:inductions';
    const showsInductions = caller.scopes.has(scope) && caller.connections.get(builderId)?.has(scope);
    const page = await readChanges<RosterEntry>(database, ROSTER, { builderId, projectId }, {}, window);
    if (!showsInductions) for (const entry of page.data) entry.inductionStatus = null;
    return page;
  }

  @Query(() => OwnSignOnEventPage, {
    description:
      'The sign-on events that the integrator has sent for a project and that were accepted, in the order of their last change. `startDate` and `endDate` bound `occurredAt`.',
  })
  @Rest('GET /builders/{builderId}/projects/{projectId}/sign-on-events', ofGate)
  signOnEvents(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId) projectId: string,
    @Args() args: OwnEventFilterArgs,
    @Args() window: ChangeWindowArgs,
    @Ctx() { caller, database }: RequestContext,
  ): Promise<InstanceType<typeof OwnSignOnEventPage>> {
    const integratorId = caller.requireIntegrator();
    const filters = { ...args, ...toDateRange(args) };
    return readChanges(database, OWN_EVENTS, { integratorId, builderId, projectId }, filters, window);
  }

  @Query(() => OwnSignOnEvent, { description: 'One sign-on event that the integrator has sent.' })
  @Rest('GET /builders/{builderId}/projects/{projectId}/sign-on-events/{signOnEventId}', ofGate)
  async signOnEvent(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId) projectId: string,
    @Arg('signOnEventId', () => SignOnEventId) id: string,
    @Ctx() { caller, database }: RequestContext,
  ): Promise<OwnSignOnEvent> {
    const owner = { integratorId: caller.requireIntegrator(), builderId, projectId };
    const { data } = await readChanges<OwnSignOnEvent>(database, OWN_EVENTS, owner, { id }, {});
    if (!data[0]) throw notFound('Sign-on event');
    return data[0];
  }

  @Query(() => OwnSignOnConflictPage, {
    description:
      'The sign-on events of the integrator that were rejected with 409, and how people resolved them, in the order of their last change.',
  })
  @Rest('GET /builders/{builderId}/projects/{projectId}/sign-on-conflicts', ofGate)
  signOnConflicts(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId) projectId: string,
    @Arg('status', () => SignOnConflictStatus, { nullable: true }) status: SignOnConflictStatus | null,
    @Args() window: ChangeWindowArgs,
    @Ctx() { caller, database }: RequestContext,
  ): Promise<InstanceType<typeof OwnSignOnConflictPage>> {
    const integratorId = caller.requireIntegrator();
    return readChanges(database, OWN_CONFLICTS, { integratorId, builderId, projectId }, { status }, window);
  }
}
