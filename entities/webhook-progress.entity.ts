import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Instant, Reference } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { WebhookEndpoint } from './webhook-endpoint.entity.ts';

/** How far an endpoint's deliveries have come. It changes often, so it is not in `WebhookEndpoint`. */
@Entity()
@PersonalData<WebhookProgress>({ none: ['day'] })
export class WebhookProgress {
  @Reference(() => WebhookEndpoint, { primary: true, deleteRule: 'cascade' })
  endpointId!: string;

  /** Position in the event log: those of the events up to it that the endpoint receives have a delivery. */
  @Property({ type: 'text' })
  day!: string;

  @Property({ type: 'bigint' })
  number!: string;

  /** Number of the event at which a replay ends: that of the position when it began. Null when none is running (WHK-15). */
  @Property({ type: 'bigint', nullable: true })
  replayUntil!: string | null;

  /** Failed attempts since the last success, without those that were under way when a suspension began. */
  @Property({ type: 'integer', default: 0 })
  failures!: number;

  /** When the first of them failed. */
  @Instant({ nullable: true })
  failingSince!: string | null;

  /** Nothing is attempted before this instant. */
  @Instant({ nullable: true })
  suspendedUntil!: string | null;
}
