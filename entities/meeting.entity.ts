import { OptionalProps } from '@mikro-orm/core';
import { Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Field } from 'type-graphql';
import { MeetingStatus } from '../schema/enums.ts';
import { GraphOnly } from '../schema/rest.ts';
import { BuilderId, MeetingId, Timestamp } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import {
  ChangeIndex,
  EnumField,
  IdField,
  Instant,
  InstantField,
  ListIndex,
  Reference,
  TextField,
  Tracked,
} from './columns.ts';
import { EntityType, ReferenceField } from './entity-type.ts';
import { Integrator } from './integrator.entity.ts';
import { KeepsTotal } from './list-total.entity.ts';
import { MeetingTemplate } from './meeting-template.entity.ts';
import { PersonalData } from './personal-data.ts';
import { Project } from './project.entity.ts';
import { Publishes } from './published.ts';

/**
 * Notes of a meeting with a template. People write the sections and integrators the synced notes, so that neither overwrites the
 * other.
 */
export interface MeetingTemplateResponse {
  /** Text before the sections. */
  preface?: string;
  /** In the order of the template; `id` and `title` are those of its section. */
  sections: { id: string; title: string; text: string }[];
  /** In the order of the first sync; `noteId` is the id of the `MeetingNote`. */
  syncedNotes: { noteId: string; text: string }[];
}

/** Block of a synced note in the notes of a meeting without a template. */
export interface NoteBlock {
  noteId: string;
  /** Index of its first UTF-16 code unit. */
  start: number;
  text: string;
}

/** A meeting of a builder (MTG-1). */
@EntityType({ scope: 'read:meetings', description: 'A meeting of a builder, on a project or across projects.' })
@PersonalData<Meeting>({
  none: ['sourceApp', 'externalSourceId'],
  mentions: ['title', 'agenda', 'plainNotes', 'noteBlocks', 'templateResponse'],
})
@Publishes('meeting', 'meeting', { project: true })
@KeepsTotal('meeting', 'status')
// A meeting without both source fields has no identity beyond its id: nulls are distinct.
@Unique({ name: 'meeting_source_key', properties: ['integratorId', 'builderId', 'sourceApp', 'externalSourceId'] })
@ListIndex('builderId', { include: ['projectId', 'status', 'date'] })
@ListIndex('builderId', { secondFilter: 'status', include: ['projectId', 'date'] })
@ListIndex('projectId', { include: ['builderId', 'status', 'date'] })
@ChangeIndex('builderId')
@Index({ properties: ['builderId', 'date'], include: ['createdAt', 'id', 'projectId', 'status'] })
export class Meeting extends Tracked {
  /** Computed, or with a default: optional for `em.create`. */
  [OptionalProps]?: 'name' | 'meetingTitle' | 'notes' | 'noteBlocks';

  @IdField(() => MeetingId, { description: 'Identifies the meeting in paths.' })
  id!: string;

  @Field(() => Timestamp, { description: 'When the record was made.' })
  @GraphOnly()
  @Instant()
  override createdAt!: string;

  @Field(() => BuilderId, { description: 'The builder that holds the meeting.' })
  @Reference(() => Builder)
  builderId!: string;

  @ReferenceField(() => Project, {
    nullable: true,
    description: 'The project of the meeting; null when it is not about a single project.',
  })
  projectId!: string | null;

  @TextField({ description: 'Title, 1 to 160 characters.' })
  title!: string;

  @Field(() => String, { description: 'The same text as `title`.' })
  get name(): string {
    return this.title;
  }

  @InstantField({ description: 'When the meeting is held.' })
  date!: string;

  @EnumField(() => MeetingStatus)
  status!: MeetingStatus;

  @TextField({ nullable: true, description: 'Topics of the meeting.' })
  agenda!: string | null;

  @Field(() => String, { description: 'The same text as `title`.' })
  get meetingTitle(): string {
    return this.title;
  }

  /** Notes of a meeting without a template. */
  @Property({ type: 'text', nullable: true, fieldName: 'notes' })
  plainNotes!: string | null;

  /** Blocks of `plainNotes` that belong to synced notes; people wrote the rest. */
  @Property({ type: 'jsonb', default: '[]' })
  noteBlocks!: NoteBlock[];

  @Reference(() => MeetingTemplate, { nullable: true })
  templateId!: string | null;

  @Property({ type: 'jsonb', nullable: true })
  templateResponse!: MeetingTemplateResponse | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Notes of people and of integrators; the whole template response as text where the meeting has a template.',
  })
  get notes(): string | null {
    return this.templateId === null ? this.plainNotes : formatResponse(this.templateResponse);
  }

  /** Integrator that created it; `sourceApp` and `externalSourceId` identify it there. */
  @Reference(() => Integrator, { nullable: true })
  integratorId!: string | null;

  @Property({ type: 'text', nullable: true })
  sourceApp!: string | null;

  @Property({ type: 'text', nullable: true })
  externalSourceId!: string | null;
}

/** Returns the response as one text, or null if it is empty. */
function formatResponse(response: MeetingTemplateResponse | null): string | null {
  return listTemplateParts(response).join(PART_GAP) || null;
}

/** Separator of the parts of a template response in one text. */
export const PART_GAP = '\n\n';

/** Returns the parts of a response in order: preface, sections with their titles, and one part for each synced note. */
export function listTemplateParts(response: MeetingTemplateResponse | null): string[] {
  const { preface = '', sections = [], syncedNotes = [] } = response ?? {};
  const filledSections = sections.filter(({ text }) => text !== '').map(({ title, text }) => `${title}\n${text}`);
  return [...(preface ? [preface] : []), ...filledSections, ...syncedNotes.map(({ text }) => text)];
}
