import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Meeting } from '../../entities/meeting.entity.ts';
import { MeetingNote } from '../../entities/meeting-note.entity.ts';
import { MeetingTemplate } from '../../entities/meeting-template.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { MeetingStatus } from '../../schema/enums.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { DateRangeArgs, rangeOf } from '../../schema/range.ts';
import { GraphOnly, Rest, Scoped } from '../../schema/rest.ts';
import { BuilderId, MeetingId, ProjectId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import {
  meetingIdentities,
  meetingNotes,
  meetings,
  meetingTemplates,
} from '../../src/domain/readers/meeting.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { notFound } from '../../src/shared/errors.ts';

const MeetingPage = PageOf(Meeting);
const MeetingNotePage = PageOf(MeetingNote);

@Resolver(() => Meeting)
export class MeetingResolver {
  @Query(() => MeetingPage, { description: 'The meetings of a builder.' })
  @Rest('GET /builders/{builderId}/meetings', { scope: 'read:meetings', tag: 'Meetings' })
  meetings(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId, { nullable: true }) projectId: string | null,
    @Arg('status', () => [MeetingStatus], { nullable: true, description: 'Any of these states.' })
    status: MeetingStatus[] | null,
    @Args() range: DateRangeArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { database }: RequestContext,
  ): Promise<Page<Meeting>> {
    return meetings
      .reading(selection)
      .page(database, { builderId, projectId, status, ...rangeOf(range) }, windowOf(page));
  }

  @Query(() => Meeting, { description: 'One meeting.' })
  @Scoped('read:meetings')
  async meeting(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('meetingId', () => MeetingId) meetingId: string,
    @Ctx() { database }: RequestContext,
  ): Promise<Meeting> {
    const meeting = await meetings.one(database, meetingId, { builderId });
    if (!meeting) throw notFound('Meeting');
    return meeting;
  }

  @Query(() => MeetingNotePage, { description: 'The synced notes of a meeting that are not archived.' })
  @Rest('GET /builders/{builderId}/meetings/{meetingId}/notes', { scope: 'read:meetings', tag: 'Meetings' })
  async meetingNotes(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('meetingId', () => MeetingId) meetingId: string,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { database }: RequestContext,
  ): Promise<Page<MeetingNote>> {
    // At once, for one round trip: what was read of another builder's meeting is thrown away.
    const [meeting, notes] = await Promise.all([
      meetingIdentities.one(database, meetingId, { builderId }),
      meetingNotes.reading(selection).page(database, { meetingId }, windowOf(page)),
    ]);
    if (!meeting) throw notFound('Meeting');
    return notes;
  }

  @FieldResolver(() => Builder, { description: 'The builder whose meeting it is.' })
  @GraphOnly()
  @Reads('builderId')
  builder(
    @Root() meeting: Pick<Meeting, 'builderId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Builder | null> {
    return loaders.one(builders.reading(selection), meeting.builderId);
  }

  @FieldResolver(() => Project, { nullable: true, description: 'The project that the meeting is about.' })
  @GraphOnly()
  @Reads('projectId')
  project(
    @Root() { projectId }: Pick<Meeting, 'projectId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Project | null> | null {
    return projectId === null ? null : loaders.one(projects.reading(selection), projectId);
  }

  @FieldResolver(() => MeetingTemplate, { nullable: true, description: 'The template that the meeting is written in.' })
  @GraphOnly()
  @Reads('templateId')
  template(
    @Root() { templateId }: Pick<Meeting, 'templateId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<MeetingTemplate | null> | null {
    return templateId === null ? null : loaders.one(meetingTemplates.reading(selection), templateId);
  }

  @FieldResolver(() => MeetingNotePage, { description: 'The synced notes of the meeting that are not archived.' })
  @GraphOnly()
  @Reads('id')
  syncedNotes(
    @Root() meeting: Pick<Meeting, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<MeetingNote>> {
    return loaders.page(meetingNotes.reading(selection), 'meetingId', meeting.id, {}, windowOf(page));
  }
}

@Resolver(() => MeetingNote)
export class MeetingNoteResolver {
  @FieldResolver(() => Meeting, { description: 'The meeting that the note is of.' })
  @GraphOnly()
  @Reads('meetingId')
  meeting(
    @Root() note: Pick<MeetingNote, 'meetingId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Meeting | null> {
    return loaders.one(meetings.reading(selection), note.meetingId);
  }
}

@Resolver(() => Builder)
export class BuilderMeetingsResolver {
  @FieldResolver(() => MeetingPage, { description: 'The meetings of the builder.' })
  @GraphOnly()
  @Reads('id')
  meetings(
    @Root() builder: Pick<Builder, 'id'>,
    @Arg('status', () => [MeetingStatus], { nullable: true }) status: MeetingStatus[] | null,
    @Args() range: DateRangeArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Meeting>> {
    return loaders.page(
      meetings.reading(selection),
      'builderId',
      builder.id,
      { status, ...rangeOf(range) },
      windowOf(page),
    );
  }
}

@Resolver(() => Project)
export class ProjectMeetingsResolver {
  @FieldResolver(() => MeetingPage, { description: 'The meetings about the project.' })
  @GraphOnly()
  @Reads('id')
  meetings(
    @Root() project: Pick<Project, 'id'>,
    @Arg('status', () => [MeetingStatus], { nullable: true }) status: MeetingStatus[] | null,
    @Args() range: DateRangeArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Meeting>> {
    return loaders.page(
      meetings.reading(selection),
      'projectId',
      project.id,
      { status, ...rangeOf(range) },
      windowOf(page),
    );
  }
}
