import promClient from 'prom-client';
import type { ClaimedDelivery } from '../../domain/webhooks/delivery/claim.ts';
import type { Dispatcher } from '../../domain/webhooks/delivery/dispatcher.ts';
import { type Attempt, isSuccess } from '../../domain/webhooks/receiver-client.ts';
import { collectGauge, type Sample } from './collected.ts';

/** Seconds from a change to the end of its first attempt. */
const BUCKETS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15, 60, 300];

/** Registers the metrics of deliveries. Returns the function that observes an attempt. */
export function registerWebhookMetrics(
  dispatchers: () => Iterable<[region: string, Dispatcher]>,
): (attempt: Attempt, delivery: ClaimedDelivery) => void {
  const attempts = new promClient.Counter({
    name: 'webhook_attempts_total',
    help: 'attempts to deliver an event to a webhook endpoint, by result',
    labelNames: ['result'],
  });
  const latency = new promClient.Histogram({
    name: 'webhook_first_attempt_seconds',
    help: 'seconds from a change to the end of the first attempt to deliver its event',
    buckets: BUCKETS,
  });
  collectGauge({
    name: 'webhook_endpoints_unreadable_secret',
    help: 'webhook endpoints whose deliveries wait because no key of TOKEN_KEY decrypts their secret',
    labelNames: ['region'],
    aggregator: 'max',
    collect: () =>
      Array.from(dispatchers(), ([region, { statistics }]): Sample => [{ region }, statistics.unreadableSecrets]),
  });
  return (attempt, { attempts: earlier, event }) => {
    attempts.inc({ result: isSuccess(attempt) ? 'success' : attempt.status === null ? 'no_response' : 'rejected' });
    if (earlier === 0) latency.observe((Date.now() - Date.parse(event.occurredAt)) / 1000);
  };
}
