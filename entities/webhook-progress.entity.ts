import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Instant, Reference } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { WebhookEndpoint } from './webhook-endpoint.entity.ts';

/** How far an endpoint's deliveries have come, and which process makes them. It changes often, so it is not in `WebhookEndpoint`. */
@Entity()
@PersonalData<WebhookProgress>({ none: ['day', 'leaseOwner'] })
@Index({ properties: ['leaseOwner'] })
export class WebhookProgress {
  @Reference(() => WebhookEndpoint, { primary: true, deleteRule: 'cascade' })
  endpointId!: string;

  /** Position in the event log: all events up to it were delivered, stored for a retry or passed over. */
  @Property({ type: 'text' })
  day!: string;

  @Property({ type: 'bigint' })
  number!: string;

  /** Number of the event at which a replay ends: that of the position when it began. Null when none is running (WHK-15). */
  @Property({ type: 'bigint', nullable: true })
  replayUntil!: string | null;

  /**
   * Incremented by a process that claims the endpoint, and by each change of the position, the filter or the failures other than by
   * delivering: the delivering process then starts anew.
   */
  @Property({ type: 'integer', default: 0 })
  generation!: number;

  /** Process that delivers; no other does before `leaseUntil`. */
  @Property({ type: 'text', nullable: true })
  leaseOwner!: string | null;

  @Instant({ nullable: true })
  leaseUntil!: string | null;

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

/** A process that delivers. The endpoints are divided among those that were seen a short time ago. */
@Entity()
export class WebhookDispatcher {
  @PrimaryKey({ type: 'text' })
  id!: string;

  @Instant()
  seenAt!: string;
}
