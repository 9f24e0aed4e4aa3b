import { Entity, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { Scoped } from '../schema/rest.ts';
import { BuilderId, JsonObject, MeetingId, MeetingNoteId, Timestamp } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { Id, Instant, ListIndex, Reference, Timestamped } from './columns.ts';
import { Integrator } from './integrator.entity.ts';
import { Meeting } from './meeting.entity.ts';

@ObjectType({ description: 'Something that the meeting decided to do.', simpleResolvers: true })
export class MeetingActionItem {
  @Field(() => String, { description: 'What has to be done.' })
  text!: string;
}

/** A note that an integrator syncs (MTG-12). */
@ObjectType({ description: 'A note of a meeting, synced from another application.', simpleResolvers: true })
@Scoped('read:meetings')
@Entity()
// Nulls are not distinct: notes without `sourceApp` have an identity too. MikroORM has no option for that.
@Unique({
  name: 'meeting_note_identity_unique',
  expression: `create unique index "meeting_note_identity_unique" on "meeting_note"
    ("integrator_id", "meeting_id", "source_app", "external_source_id") nulls not distinct`,
})
@ListIndex('meetingId')
export class MeetingNote extends Timestamped {
  @Field(() => MeetingNoteId, { description: 'Identifies the note.' })
  @Id()
  id!: string;

  @Field(() => BuilderId, { description: 'The builder that the meeting belongs to.' })
  @Reference(() => Builder)
  builderId!: string;

  @Field(() => MeetingId, { description: 'The meeting that the note belongs to.' })
  @Reference(() => Meeting)
  meetingId!: string;

  @Reference(() => Integrator, { nullable: true })
  integratorId!: string | null;

  @Field(() => String, { nullable: true, description: 'Application that the note comes from.' })
  @Property({ type: 'text', nullable: true })
  sourceApp!: string | null;

  @Field(() => String, { description: 'Identifier of the note there.' })
  @Property({ type: 'text' })
  externalSourceId!: string;

  @Field(() => String, { nullable: true, description: 'Opens the note in that application.' })
  @Property({ type: 'text', nullable: true })
  sourceDeepLink!: string | null;

  @Field(() => String, { nullable: true, description: 'Opens the note in a browser.' })
  @Property({ type: 'text', nullable: true })
  sourceWebLink!: string | null;

  @Field(() => String, { nullable: true, description: 'Title of the note.' })
  @Property({ type: 'text', nullable: true })
  title!: string | null;

  @Field(() => String, { nullable: true, description: 'Markdown.' })
  @Property({ type: 'text', nullable: true })
  summaryMarkdown!: string | null;

  @Field(() => [JsonObject], { description: 'Blocks in the form of the application that the note comes from.' })
  @Property({ type: 'jsonb', default: '[]' })
  detailBlocks!: Record<string, unknown>[];

  @Field(() => [MeetingActionItem], { description: 'What the meeting decided to do.' })
  @Property({ type: 'jsonb', default: '[]' })
  actionItems!: MeetingActionItem[];

  @Field(() => Timestamp, { nullable: true, description: 'When the recording behind the note began.' })
  @Instant({ nullable: true })
  capturedStartedAt!: string | null;

  @Field(() => Timestamp, { nullable: true, description: 'When the recording behind the note ended.' })
  @Instant({ nullable: true })
  capturedEndedAt!: string | null;

  @Field(() => Timestamp, { nullable: true, description: 'When the note was archived; null while it is active.' })
  @Instant({ nullable: true })
  archivedAt!: string | null;
}
