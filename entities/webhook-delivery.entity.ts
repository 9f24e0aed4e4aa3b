import { Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Int } from 'type-graphql';
import { BuilderId } from '../schema/scalars.ts';
import { WebhookDeliveryId, WebhookDeliveryStatus } from '../schema/webhook.scalars.ts';
import { EnumField, IdField, Instant, InstantField, Reference, TextField } from './columns.ts';
import { ColumnField, EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { WebhookEndpoint } from './webhook-endpoint.entity.ts';

/** An event that was delivered to an endpoint, or that waits for it (WHK-12). */
@EntityType({ description: 'Delivery of one event to an endpoint.' })
@PersonalData<WebhookDelivery>({
  none: ['eventId', 'type', 'builderId', 'recordId', 'projectId', 'parentId', 'responseBody', 'error'],
})
@Unique({ properties: ['endpointId', 'eventId'] })
@Index({ properties: ['endpointId', 'id'] })
@Index({ properties: ['endpointId', 'status', 'id'], where: "status <> 'DELIVERED'" })
@Index({ properties: ['createdAt'] })
@Index({ properties: ['endpointId', 'nextAttemptAt'], where: "status = 'PENDING'" })
@Index({ properties: ['endpointId', 'recordId', 'number'], where: "status = 'PENDING'" })
export class WebhookDelivery {
  @IdField(() => WebhookDeliveryId, { description: 'Identifies the delivery.' })
  id!: string;

  @Reference(() => WebhookEndpoint, { deleteRule: 'cascade' })
  endpointId!: string;

  @TextField({ description: 'Identifier of the event, and the `webhook-id` of every attempt.' })
  eventId!: string;

  @TextField({ description: 'Type of the event.' })
  type!: string;

  @ColumnField(() => BuilderId, 'text', { description: 'The builder that the event is about.' })
  builderId!: string;

  /** Position of the event in the log, and what its body is made of. */
  @Property({ type: 'bigint' })
  number!: string;

  /** Deliveries of one record are attempted one after the other. */
  @Property({ type: 'text' })
  recordId!: string;

  @Property({ type: 'text', nullable: true })
  projectId!: string | null;

  @Property({ type: 'text', nullable: true })
  parentId!: string | null;

  @Instant()
  occurredAt!: string;

  @EnumField(() => WebhookDeliveryStatus)
  status!: WebhookDeliveryStatus;

  @ColumnField(() => Int, 'integer', { description: 'Attempts that were made.' })
  attempts!: number;

  @InstantField({ description: 'When the delivery was created.' })
  createdAt!: string;

  @Instant({ nullable: true })
  firstAttemptAt!: string | null;

  @InstantField({ nullable: true, description: 'When it was last attempted; null before the first attempt.' })
  lastAttemptAt!: string | null;

  @InstantField({
    nullable: true,
    description:
      'Earliest time of the next attempt, which waits for earlier events of its record; null unless it is pending.',
  })
  nextAttemptAt!: string | null;

  /** While it is attempted, by a process that claims it: no other does before. */
  @Instant({ nullable: true })
  leasedUntil!: string | null;

  @ColumnField(() => Int, 'integer', {
    nullable: true,
    description: "HTTP status of the receiver's last response; null without one.",
  })
  responseStatus!: number | null;

  @TextField({ nullable: true, description: "At most 1 KiB of the receiver's last response, as text." })
  responseBody!: string | null;

  @TextField({ nullable: true, description: 'Why there was no response, such as a timeout.' })
  error!: string | null;
}
