import { Dispatcher, type DispatcherOptions } from '../../src/domain/webhooks/delivery/dispatcher.ts';
import { createWebhookTools } from '../../src/domain/webhooks/webhook-context.ts';
import { type Service, TOKEN_KEY } from './harness.ts';

/** Creates a dispatcher of webhooks in the region au1 of a service. It runs only when the test calls it. */
export function createDispatcher({ databases, clock }: Service, options: Partial<DispatcherOptions> = {}): Dispatcher {
  const webhooks = createWebhookTools({ production: false }, [TOKEN_KEY]);
  return new Dispatcher({ database: databases.au1, clock, webhooks, ...options });
}

/** Lets a dispatcher do all that is due now, one request after the other to each record. */
export async function runDispatcher(dispatcher: Dispatcher): Promise<void> {
  for (let isBusy = true; isBusy; ) {
    isBusy = await dispatcher.poll();
    await dispatcher.settle();
  }
  await dispatcher.refresh();
}

/** How a client comes to receive nothing, with the changes of its row that begin and end it (WHK-7). */
export const CLIENT_LOSSES = [
  ['is disabled', 'disabled_at = now()', 'disabled_at = null'],
  [
    'has lost its grant',
    `grants = array_remove(grants, 'client_credentials')`,
    `grants = array_append(grants, 'client_credentials')`,
  ],
];
