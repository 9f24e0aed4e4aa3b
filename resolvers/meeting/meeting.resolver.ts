import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Meeting } from '../../entities/meeting.entity.ts';
import { MeetingNote } from '../../entities/meeting-note.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { MeetingStatus } from '../../schema/enums.ts';
import { createPageType, type Page, PageArgs } from '../../schema/page.ts';
import { DateRangeArgs } from '../../schema/range.ts';
import { Rest, Scoped } from '../../schema/rest.ts';
import { BuilderId, MeetingId, ProjectId } from '../../schema/scalars.ts';
import { Selected, type Selection } from '../../schema/selection.ts';
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
import { builderPage, builderRecord, DescribedType, pageEdge, recordEdge } from '../fields.ts';

const MeetingNotePage = createPageType(MeetingNote);

@Resolver(() => Meeting)
export class MeetingResolver {
  @Query(() => MeetingNotePage, { description: 'The synced notes of a meeting that are not archived.' })
  @Rest('GET /builders/{builderId}/meetings/{meetingId}/notes', { scope: 'read:meetings', tag: 'Meetings' })
  async meetingNotes(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('meetingId', () => MeetingId) meetingId: string,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { database }: RequestContext,
  ): Promise<Page<MeetingNote>> {
    // Concurrent, for one round trip. The notes are discarded if the meeting belongs to another builder.
    const [meeting, notes] = await Promise.all([
      meetingIdentities.findOne(database, meetingId, { builderId }),
      meetingNotes.select(selection).findPage(database, { meetingId }, page),
    ]);
    if (!meeting) throw notFound('Meeting');
    return notes;
  }
}

const args = [{ status: [MeetingStatus] }, DateRangeArgs];

export const meetingFields = [
  builderPage('meetings', meetings, 'The meetings of a builder.', {
    operation: Rest('GET /builders/{builderId}/meetings', { scope: 'read:meetings', tag: 'Meetings' }),
    args: [{ projectId: ProjectId, status: new DescribedType([MeetingStatus], 'Any of these states.') }, DateRangeArgs],
  }),
  builderRecord('meeting', meetings, { meetingId: MeetingId }, ['Meeting', 'One meeting.'], {
    operation: Scoped('read:meetings'),
  }),
  recordEdge(Meeting, 'builder', builders, 'builderId', 'The builder whose meeting it is.'),
  recordEdge(Meeting, 'project', projects, 'projectId', 'The project that the meeting is about.', { nullable: true }),
  recordEdge(Meeting, 'template', meetingTemplates, 'templateId', 'The template that the meeting is written in.', {
    nullable: true,
  }),
  pageEdge(Meeting, 'syncedNotes', meetingNotes, 'meetingId', 'The synced notes of the meeting that are not archived.'),
  recordEdge(MeetingNote, 'meeting', meetings, 'meetingId', 'The meeting that the note is of.'),
  pageEdge(Builder, 'meetings', meetings, 'builderId', 'The meetings of the builder.', { args }),
  pageEdge(Project, 'meetings', meetings, 'projectId', 'The meetings about the project.', { args }),
];
