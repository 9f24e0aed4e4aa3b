import { Field, ObjectType } from 'type-graphql';
import { createPageType } from '../../schema/page.ts';
import { BuilderId, EventId, ProjectId, Timestamp } from '../../schema/scalars.ts';
import { EventCursor, EventType } from './event.scalars.ts';

@ObjectType({ description: 'The record that an event is about.', simpleResolvers: true })
class EventResource {
  @Field(() => String, { description: 'Name of the resource, such as `photo_report`.' })
  type!: string;

  @Field(() => String, { description: 'Id of the record.' })
  id!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Path that reads the record; the path of its list where there is none for a single record; null where v1 does not read it.',
  })
  path!: string | null;
}

/** A change of a record (EVT-4). */
@ObjectType({ description: 'A change of a record. It contains no data of the record.', simpleResolvers: true })
export class Event {
  @Field(() => EventId, { description: 'Identifies the event, also in every delivery of it.' })
  id!: string;

  @Field(() => EventType, { description: 'Resource and change.' })
  type!: string;

  @Field(() => Timestamp, { description: 'When the record changed.' })
  occurredAt!: string;

  @Field(() => BuilderId, { description: 'The builder of the record.' })
  builderId!: string;

  @Field(() => ProjectId, { nullable: true, description: 'The project of the record, if it is about one.' })
  projectId!: string | null;

  @Field(() => EventResource, { description: 'What changed.' })
  resource!: EventResource;
}

@ObjectType({ description: 'Cursor of a page of events.', simpleResolvers: true })
class EventPageMeta {
  @Field(() => EventCursor, { description: 'The value of `after` for the next page; also on an empty page.' })
  nextCursor!: string;

  @Field(() => Boolean, { description: 'Whether to request the next page at once.' })
  hasMore!: boolean;
}

export const EventPage = createPageType(Event, EventPageMeta, 'position in the feed');
