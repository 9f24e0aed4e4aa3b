import { Arg, Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { Meeting } from '../../entities/meeting.entity.ts';
import { MeetingNote } from '../../entities/meeting-note.entity.ts';
import { Rest, Scoped } from '../../schema/rest.ts';
import { BuilderId, MeetingId, Timestamp } from '../../schema/scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import type { IdempotentRequest } from '../../src/domain/create-once.ts';
import { createMeeting, updateMeeting, updateMeetingNotes } from '../../src/domain/meetings/meeting-writes.ts';
import { syncNote } from '../../src/domain/meetings/sync-note.ts';
import { Idempotent } from '../idempotent.ts';
import { CreateMeetingArgs, MeetingNoteArgs, MeetingText, MeetingTitle } from './meeting.input.ts';

@Resolver(() => Meeting)
export class MeetingWritesResolver {
  @Mutation(() => Meeting, {
    description:
      'Creates a meeting, as a draft. With `sourceApp` and `externalSourceId` a repeated request returns the existing meeting.',
  })
  @Rest('POST /builders/{builderId}/meetings', { scope: 'write:meetings', tag: 'Meetings', status: 201 })
  async createMeeting(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() input: CreateMeetingArgs,
    @Idempotent() request: IdempotentRequest | null,
    @Ctx() context: RequestContext,
  ): Promise<Meeting> {
    // Only a meeting with a source belongs to an integrator.
    if (input.externalSourceId != null) context.caller.requireIntegrator();
    const { meeting, created } = await createMeeting(context, builderId, input, request);
    context.outcome = created ? 'CREATED' : 'REPLAYED';
    return meeting;
  }

  @Mutation(() => Meeting, { description: 'Changes the title of a meeting.' })
  @Rest('PATCH /builders/{builderId}/meetings/{meetingId}', { scope: 'write:meetings', tag: 'Meetings' })
  updateMeeting(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('meetingId', () => MeetingId) meetingId: string,
    @Arg('title', () => MeetingTitle) title: string,
    @Ctx() context: RequestContext,
  ): Promise<Meeting> {
    return updateMeeting(context, { builderId, meetingId }, { title });
  }

  @Mutation(() => Meeting, { description: 'Starts a meeting, whatever its state.' })
  @Rest('POST /builders/{builderId}/meetings/{meetingId}/start', { scope: 'write:meetings', tag: 'Meetings' })
  startMeeting(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('meetingId', () => MeetingId) meetingId: string,
    @Ctx() context: RequestContext,
  ): Promise<Meeting> {
    return updateMeeting(context, { builderId, meetingId }, { status: 'RUNNING' });
  }

  @Mutation(() => Meeting, { description: 'Marks a meeting completed, whatever its state.' })
  @Rest('POST /builders/{builderId}/meetings/{meetingId}/end', { scope: 'write:meetings', tag: 'Meetings' })
  endMeeting(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('meetingId', () => MeetingId) meetingId: string,
    @Ctx() context: RequestContext,
  ): Promise<Meeting> {
    return updateMeeting(context, { builderId, meetingId }, { status: 'COMPLETED' });
  }

  @Mutation(() => Meeting, {
    description:
      "Replaces a meeting's notes by a person's text. Fails with `MEETING_CHANGED` (409) when the meeting has changed since `expectedUpdatedAt`.",
  })
  @Scoped('write:meetings')
  updateMeetingNotes(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('meetingId', () => MeetingId) meetingId: string,
    @Arg('notes', () => MeetingText) notes: string,
    @Arg('expectedUpdatedAt', () => Timestamp, { description: '`updatedAt` of the meeting as it was read.' })
    expectedUpdatedAt: string,
    @Ctx() context: RequestContext,
  ): Promise<Meeting> {
    return updateMeetingNotes(context, { builderId, meetingId }, { notes, expectedUpdatedAt });
  }

  @Mutation(() => MeetingNote, {
    description:
      "Creates or replaces a note by `sourceApp` and `externalSourceId`; absent fields are cleared. Writes it through to the meeting's notes, where it has a block of its own. What people wrote there stays.",
  })
  @Rest('POST /builders/{builderId}/meetings/{meetingId}/notes', {
    scope: 'write:meetings',
    tag: 'Meetings',
    outcomes: { CREATED: 201 },
    conflicts: ['MEETING_NOTES_FULL'],
  })
  async upsertMeetingNote(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('meetingId', () => MeetingId) meetingId: string,
    @Args() args: MeetingNoteArgs,
    @Ctx() context: RequestContext,
  ): Promise<MeetingNote> {
    context.caller.requireIntegrator();
    const { note, created } = await syncNote(context, { builderId, meetingId }, args);
    if (created) context.outcome = 'CREATED';
    return note;
  }
}
