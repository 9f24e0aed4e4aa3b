import { Arg, Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { SignOnConflictCode } from '../../schema/enums.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId, ProjectId } from '../../schema/scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { recordEvent } from '../../src/domain/attendance/record-event.ts';
import { SignOnEventArgs } from './attendance.input.ts';
import { SignOnEventAnswer } from './attendance.type.ts';

@Resolver()
export class SignOnEventResolver {
  @Mutation(() => SignOnEventAnswer, {
    description:
      'Reports one sign-on or sign-off at a gate. It reports observed attendance, and never grants or restores site access: a worker whose access was revoked is still reported. Send it again with the same `sourceEventId` and data after a network or server failure. A 409 has to be resolved by a person; never send the event again under another id.',
  })
  @Rest('POST /builders/{builderId}/projects/{projectId}/sign-on-events', {
    scope: 'write:sign_on_events',
    tag: 'Gate attendance',
    status: 201,
    outcomes: { CREATED: 201, REPLAYED: 200, ACCEPTED: 202 },
    conflicts: Object.keys(SignOnConflictCode),
  })
  async recordSignOnEvent(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId) projectId: string,
    @Args() args: SignOnEventArgs,
    @Ctx() context: RequestContext,
  ): Promise<SignOnEventAnswer> {
    const { database, clock } = context;
    const integratorId = context.caller.requireIntegrator();
    const now = clock.now();
    const { sourceEventId, sourceSignOnEventId = null, workerId, type, occurredAt, deviceId = null } = args;
    const event = { sourceEventId, sourceSignOnEventId, workerId, type, occurredAt, deviceId };
    const { outcome, ...recorded } = await recordEvent(database, { integratorId, builderId, projectId }, event, now);
    context.outcome = outcome;
    const { id, visitId, duplicate } = recorded;
    return { data: { id, sourceEventId, status: recorded.event, signOnId: visitId, duplicate } };
  }
}
