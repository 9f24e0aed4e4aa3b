import { Field, Int, ObjectType } from 'type-graphql';
import { WebhookDelivery } from '../../entities/webhook-delivery.entity.ts';
import { WebhookEndpoint } from '../../entities/webhook-endpoint.entity.ts';
import { createPageType } from '../../schema/page.ts';
import { Timestamp } from '../../schema/scalars.ts';
import { WebhookEndpointId } from '../../schema/webhook.scalars.ts';

@ObjectType({ description: 'An endpoint with its signing secret.', simpleResolvers: true })
export class WebhookEndpointWithSecret extends WebhookEndpoint {
  @Field(() => String, {
    nullable: true,
    description: 'Signing secret, `whsec_…`. It is not shown again; null when the endpoint existed already.',
  })
  override secret!: string;
}

@ObjectType({ description: "What an endpoint's receiver answered to a test event.", simpleResolvers: true })
export class WebhookTestResult {
  @Field(() => String, { description: 'The `webhook-id` of the test event.' })
  eventId!: string;

  @Field(() => Boolean, { description: 'Whether the receiver returned 2xx within 15 seconds.' })
  succeeded!: boolean;

  @Field(() => Int, { nullable: true, description: 'HTTP status of the response; null without one.' })
  responseStatus!: number | null;

  @Field(() => String, { nullable: true, description: 'At most 1 KiB of the response, as text.' })
  responseBody!: string | null;

  @Field(() => String, { nullable: true, description: 'Why there was no response, such as a timeout.' })
  error!: string | null;
}

@ObjectType({ description: 'A replay that has begun.', simpleResolvers: true })
export class WebhookReplay {
  @Field(() => WebhookEndpointId, { description: 'The endpoint.' })
  endpointId!: string;

  @Field(() => Timestamp, { description: 'When the replay began.' })
  startedAt!: string;
}

@ObjectType({ description: 'Cursor of a page of deliveries.', simpleResolvers: true })
class WebhookDeliveryPageMeta {
  @Field(() => String, { nullable: true, description: '`after` of the next page; null at the end.' })
  nextCursor!: string | null;
}

export const WebhookDeliveryPage = createPageType(
  WebhookDelivery,
  WebhookDeliveryPageMeta,
  'time of creation, the newest first',
);
