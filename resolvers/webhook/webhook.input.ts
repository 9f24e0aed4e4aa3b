import { ArgsType, Field } from 'type-graphql';
import { ItemCount, NotNull } from '../../schema/input-rules.ts';
import { BuilderId, PageLimit } from '../../schema/scalars.ts';
import {
  DeliveryCursor,
  WebhookDeliveryStatus,
  WebhookEndpointSwitch,
  WebhookUrl,
} from '../../schema/webhook.scalars.ts';
import { EventType } from '../event/event.scalars.ts';

const MAX_TYPES = 100;
const MAX_BUILDERS = 1_000;

/** Body of `createWebhookEndpoint` (WHK-1). */
@ArgsType()
export class CreateWebhookEndpointArgs {
  @Field(() => WebhookUrl, { description: 'Address that receives the events.' })
  url!: string;

  @Field(() => [EventType], {
    nullable: true,
    description: 'Types of events, such as `timesheet.updated`; null for all.',
  })
  @ItemCount({ minItems: 1, maxItems: MAX_TYPES })
  types?: string[] | null;

  @Field(() => [BuilderId], { nullable: true, description: 'Connected builders; null for all that are connected.' })
  @ItemCount({ minItems: 1, maxItems: MAX_BUILDERS })
  builderIds?: string[] | null;
}

/** Body of `updateWebhookEndpoint`; absent fields stay unchanged. */
@ArgsType()
export class UpdateWebhookEndpointArgs {
  @Field(() => WebhookUrl, { nullable: true, description: 'Address that receives the events.' })
  @NotNull()
  url?: string;

  @Field(() => [EventType], { nullable: true, description: 'Types of events; null for all.' })
  @ItemCount({ minItems: 1, maxItems: MAX_TYPES })
  types?: string[] | null;

  @Field(() => [BuilderId], { nullable: true, description: 'Connected builders; null for all that are connected.' })
  @ItemCount({ minItems: 1, maxItems: MAX_BUILDERS })
  builderIds?: string[] | null;

  @Field(() => WebhookEndpointSwitch, {
    nullable: true,
    description: '`PAUSED` stops the delivery, `ACTIVE` continues it where it stopped.',
  })
  @NotNull()
  status?: WebhookEndpointSwitch;
}

@ArgsType()
export class DeliveryArgs {
  @Field(() => WebhookDeliveryStatus, { nullable: true, description: 'Only deliveries in this state.' })
  status?: WebhookDeliveryStatus | null;

  @Field(() => DeliveryCursor, { nullable: true, description: '`meta.nextCursor` of the page before.' })
  after?: string | null;

  @Field(() => PageLimit, { nullable: true, description: 'Deliveries to return, 1 to 25. Default 25.' })
  limit?: number | null;
}
