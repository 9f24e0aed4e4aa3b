import { Dispatcher } from '../../src/domain/webhooks/delivery/dispatcher.ts';
import { createWebhookTools } from '../../src/domain/webhooks/webhook-context.ts';
import { type Service, TOKEN_KEY } from './harness.ts';

/** Creates a dispatcher of webhooks in the region au1 of a service. It runs only when the test calls it. */
export function createDispatcher({ databases, clock }: Service): Dispatcher {
  const webhooks = createWebhookTools({ production: false }, [TOKEN_KEY]);
  return new Dispatcher({ database: databases.au1, clock, webhooks });
}
