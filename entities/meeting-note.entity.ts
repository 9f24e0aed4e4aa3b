import { Unique } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { JsonObject, MeetingNoteId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { ChangeIndex, IdField, InstantField, ListIndex, Reference, TextField, Tracked } from './columns.ts';
import { ColumnField, EntityType, ReferenceField } from './entity-type.ts';
import { Integrator } from './integrator.entity.ts';
import { Meeting } from './meeting.entity.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';

@ObjectType({ description: 'An action item of the meeting.', simpleResolvers: true })
class MeetingActionItem {
  @Field(() => String, { description: 'Text of the action item.' })
  text!: string;
}

/** A note that an integrator syncs (MTG-12). */
@EntityType({ scope: 'read:meetings', description: 'A note of a meeting, synced from another application.' })
@PersonalData<MeetingNote>({
  none: ['sourceApp', 'externalSourceId'],
  mentions: ['title', 'summaryMarkdown', 'detailBlocks', 'actionItems'],
  addresses: ['sourceDeepLink', 'sourceWebLink'],
})
@Publishes('meeting_note', 'meeting_note', {
  path: '/builders/{builderId}/meetings/{parentId}/notes',
  parent: 'meeting_id',
  archivable: true,
})
// Nulls are not distinct: notes without `sourceApp` have an identity too. MikroORM has no option for that.
@Unique({
  name: 'meeting_note_identity_unique',
  expression: `create unique index "meeting_note_identity_unique" on "meeting_note"
    ("integrator_id", "meeting_id", "source_app", "external_source_id") nulls not distinct`,
})
@ListIndex('meetingId')
@ChangeIndex('meetingId')
export class MeetingNote extends Tracked {
  @IdField(() => MeetingNoteId, { description: 'Identifies the note.' })
  id!: string;

  @ReferenceField(() => Builder, { description: 'The builder that the meeting belongs to.' })
  builderId!: string;

  @ReferenceField(() => Meeting, { description: 'The meeting that the note belongs to.' })
  meetingId!: string;

  @Reference(() => Integrator, { nullable: true })
  integratorId!: string | null;

  @TextField({ nullable: true, description: 'Application that the note comes from.' })
  sourceApp!: string | null;

  @TextField({ description: 'Identifier of the note there.' })
  externalSourceId!: string;

  @TextField({ nullable: true, description: 'Opens the note in that application.' })
  sourceDeepLink!: string | null;

  @TextField({ nullable: true, description: 'Opens the note in a browser.' })
  sourceWebLink!: string | null;

  @TextField({ nullable: true, description: 'Title of the note.' })
  title!: string | null;

  @TextField({ nullable: true, description: 'Markdown.' })
  summaryMarkdown!: string | null;

  @ColumnField(() => [JsonObject], 'jsonb', {
    default: '[]',
    description: 'Blocks in the form of the application that the note comes from.',
  })
  detailBlocks!: Record<string, unknown>[];

  @ColumnField(() => [MeetingActionItem], 'jsonb', { default: '[]', description: 'Action items of the meeting.' })
  actionItems!: MeetingActionItem[];

  @InstantField({ nullable: true, description: 'When the recording behind the note began.' })
  capturedStartedAt!: string | null;

  @InstantField({ nullable: true, description: 'When the recording behind the note ended.' })
  capturedEndedAt!: string | null;

  @InstantField({ nullable: true, description: 'When the note was archived; null while it is active.' })
  archivedAt!: string | null;
}
