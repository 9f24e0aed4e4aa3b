import { Enum, Index, Property } from '@mikro-orm/decorators/legacy';
import { Field } from 'type-graphql';
import { BuilderId } from '../schema/scalars.ts';
import { WebhookDisabledReason, WebhookEndpointId, WebhookEndpointStatus } from '../schema/webhook.scalars.ts';
import { EnumField, IdField, Instant, Reference, TextField, Timestamped } from './columns.ts';
import { ColumnField, EntityType } from './entity-type.ts';
import { Integrator } from './integrator.entity.ts';
import { OAuthClient } from './oauth-client.entity.ts';
import { PersonalData } from './personal-data.ts';

export interface PreviousSecret {
  /** Encrypted by `SecretBox`. */
  secret: string;
  /** ISO 8601. */
  until: string;
}

/** An address of an integrator to which events are delivered (WHK-1). */
@EntityType({ description: 'An address to which events are delivered.' })
@PersonalData<WebhookEndpoint>({ none: ['url', 'types', 'builderIds', 'secret', 'previousSecrets'] })
@Index({ properties: ['integratorId', 'createdAt', 'id'] })
@Index({ properties: ['status'], where: 'deleted_at is null' })
@Index({ properties: ['deletedAt'], where: 'deleted_at is not null' })
export class WebhookEndpoint extends Timestamped {
  @IdField(() => WebhookEndpointId, { description: 'Identifies the endpoint in paths.' })
  id!: string;

  @Reference(() => Integrator)
  integratorId!: string;

  /** The client that created it, whose scopes decide what it receives (WHK-7). */
  @Reference(() => OAuthClient)
  clientId!: string;

  @TextField({ description: 'Address that receives the events.' })
  url!: string;

  @ColumnField(() => [String], 'text[]', {
    nullable: true,
    description: 'Types of the events that it receives; null for all.',
  })
  types!: string[] | null;

  @ColumnField(() => [BuilderId], 'text[]', {
    nullable: true,
    description: 'Builders whose events it receives; null for all that are connected.',
  })
  builderIds!: string[] | null;

  /** As stored; an endpoint of a disabled client is shown as paused. */
  @EnumField(() => WebhookEndpointStatus)
  status!: WebhookEndpointStatus;

  @Field(() => WebhookDisabledReason, {
    nullable: true,
    description: 'Why the service delivers nothing; null while it delivers, or when a client has paused it.',
  })
  @Enum({ items: () => WebhookDisabledReason, nullable: true })
  disabledReason!: WebhookDisabledReason | null;

  /** Encrypted by `SecretBox`. */
  @Property({ type: 'text' })
  secret!: string;

  /** Secrets before the last rotations, the newest first, with which deliveries are also signed (WHK-5). */
  @Property({ type: 'jsonb', default: '[]' })
  previousSecrets!: PreviousSecret[];

  /** When it was deleted. The row stays until its deliveries are removed. */
  @Instant({ nullable: true })
  deletedAt!: string | null;
}
