import type { Database } from '../../../database/database.ts';
import { isTransientError } from '../../../database/errors.ts';
import { statement } from '../../../database/pool/pg-pipeline.ts';
import type { Clock } from '../../../shared/clock.ts';
import { toPublicEvent } from '../../events/event-types.ts';
import { disableEndpoint, listSigningSecrets } from '../endpoints.ts';
import { type Attempt, isSuccess } from '../receiver-client.ts';
import { signWebhook } from '../signature.ts';
import type { WebhookTools } from '../webhook-context.ts';
import { FROM_ACTIVE_ENDPOINTS, isReadable } from './active-endpoints.ts';
import { beginDeliveries, type ClaimedDelivery, FIRST_CONCURRENCY, releaseDeliveries } from './claim.ts';
import { queueEvents } from './queue-events.ts';
import { type DeliveryResult, storeResults } from './results.ts';

/** Maximum concurrent requests to an endpoint. It begins with few; a success allows one more, and a failure halves them. */
const MAX_CONCURRENCY = 16;

/** Milliseconds after the claim in which its request begins: with the time limit of the request it ends before the lease. */
const MAX_START_DELAY_MS = 10_000;

export interface DispatcherOptions {
  database: Database;
  clock: Clock;
  webhooks: WebhookTools;
  onAttempt?: (attempt: Attempt, delivery: ClaimedDelivery) => void;
  /** Called once for secrets that no configured key decrypts, of which the endpoint's deliveries wait. */
  onUnreadableSecret?: (endpointId: string) => void;
  /** Called when the database rejects the result of a delivery, which is then repeated. */
  onRejectedResult?: (endpointId: string, error: unknown) => void;
}

/** Ends the replays whose events were attempted. Returns the number of active endpoints, and those whose secret no key decrypts. */
const REFRESH = statement('webhooks.refresh')`with ended as (
    update webhook_progress set replay_until = null where replay_until <= number and not exists (
      select from webhook_delivery where endpoint_id = webhook_progress.endpoint_id and status = 'PENDING' and attempts = 0
        and number <= replay_until offset 0))
  select count(*), to_json(coalesce(array_agg(endpoint.id) filter (where not ${isReadable('$1', '$2')}), '{}'))
    from ${FROM_ACTIVE_ENDPOINTS}`;

/**
 * Delivers events to the endpoints of a region. All state is in the database, and any number of processes do it together: each claims
 * deliveries for as long as a request can take. Call `refresh` and `poll` at intervals: see `startDispatchers`.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #requests = new Set<Promise<unknown>>();
  /** Deliveries of each endpoint that were claimed and have no stored result, and how many it may have. */
  readonly #loads = new Map<string, { inFlight: number; concurrency: number }>();
  readonly #ending = new AbortController();
  /** What is not stored yet: results, and deliveries that were not attempted. */
  #results: DeliveryResult[] = [];
  #unattempted: ClaimedDelivery[] = [];
  #unreadable = new Set<string>();
  #endpoints = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Number of active endpoints, of those whose deliveries wait because no key decrypts their secret, and of requests in progress. */
  get statistics(): { endpoints: number; unreadableSecrets: number; inFlight: number } {
    return { endpoints: this.#endpoints, unreadableSecrets: this.#unreadable.size, inFlight: this.#requests.size };
  }

  /** Counts the endpoints, and reports those with secrets that cannot be decrypted. */
  async refresh(): Promise<void> {
    const { database, clock, webhooks, onUnreadableSecret } = this.#options;
    const values = [webhooks.secrets.keyIds, new Date(clock.now()).toISOString()];
    const [row] = await database.backgroundRunner.run(REFRESH, values);
    const unreadable = new Set(JSON.parse(row![1]!) as string[]);
    for (const id of unreadable) if (!this.#unreadable.has(id)) onUnreadableSecret?.(id);
    this.#endpoints = Number(row![0]);
    this.#unreadable = unreadable;
  }

  /** Stores results, queues new events, and begins the attempts that are due. Returns whether it found any; the requests continue. */
  async poll(): Promise<boolean> {
    const { database, clock, webhooks } = this.#options;
    await this.#store();
    let isBusy = await queueEvents(database.backgroundRunner, clock.now());
    for (let hasMore = true; hasMore; ) {
      const claimedAt = performance.now();
      const begin = (delivery: ClaimedDelivery) => this.#begin(delivery, claimedAt);
      hasMore = await beginDeliveries(database, clock.now(), webhooks.secrets.keyIds, this.#loads, begin);
      isBusy ||= hasMore;
    }
    return isBusy;
  }

  /** Waits until no request is being made, and stores the results. */
  async settle(): Promise<void> {
    while (this.#requests.size > 0) await Promise.all(this.#requests);
    await this.#store();
  }

  /** Ends the requests that do not end within the time, and stores the results. */
  async stop(graceMs: number): Promise<void> {
    const abort = setTimeout(() => this.#ending.abort(), graceMs);
    await this.settle();
    clearTimeout(abort);
  }

  #begin(delivery: ClaimedDelivery, claimedAt: number): void {
    const { id } = delivery.endpoint;
    const load = this.#loads.get(id) ?? { inFlight: 0, concurrency: FIRST_CONCURRENCY };
    this.#loads.set(id, load);
    load.inFlight++;
    const request = this.#attempt(delivery, claimedAt)
      .then(
        (result) => (result ? this.#results.push(result) : this.#unattempted.push(delivery)),
        (error) => {
          // It is repeated when its lease ends.
          this.#end(delivery);
          this.#options.onRejectedResult?.(id, error);
        },
      )
      .finally(() => this.#requests.delete(request));
    this.#requests.add(request);
  }

  /** Returns null for a delivery that was not attempted, or not to the end. */
  async #attempt(delivery: ClaimedDelivery, claimedAt: number): Promise<DeliveryResult | null> {
    const { clock, webhooks, onAttempt } = this.#options;
    const { signal } = this.#ending;
    const { endpoint, event } = delivery;
    if (signal.aborted || performance.now() - claimedAt > MAX_START_DELAY_MS) return null;
    const startedAt = clock.now();
    const body = JSON.stringify(toPublicEvent(event));
    const stored = listSigningSecrets(endpoint, startedAt);
    const secrets = stored.map((secret) => webhooks.secrets.decrypt(secret, endpoint.id));
    const headers = signWebhook(secrets, { id: event.id, timestamp: Math.floor(startedAt / 1000), body });
    const attempt = await webhooks.receivers.post(endpoint.url, headers, body, { signal });
    if (signal.aborted && attempt.status === null) return null;
    const load = this.#loads.get(endpoint.id)!;
    load.concurrency = isSuccess(attempt)
      ? Math.min(MAX_CONCURRENCY, load.concurrency + 1)
      : Math.max(1, load.concurrency >> 1);
    onAttempt?.(attempt, delivery);
    return { delivery, attempt, startedAt, endedAt: clock.now() };
  }

  /** Stores all results that there are. Those that cannot be stored now are stored by the next call. */
  async #store(): Promise<void> {
    const unattempted = [...this.#unattempted];
    await releaseDeliveries(this.#options.database.backgroundRunner, unattempted);
    for (const delivery of this.#unattempted.splice(0, unattempted.length)) this.#end(delivery);
    const results = [...this.#results];
    if (results.length === 0) return;
    try {
      await this.#storeTogether(results);
    } catch (error) {
      if (isTransientError(error)) throw error;
      await this.#storeEach(results);
    }
    for (const { delivery } of this.#results.splice(0, results.length)) this.#end(delivery);
  }

  #end({ endpoint }: ClaimedDelivery): void {
    this.#loads.get(endpoint.id)!.inFlight--;
  }

  async #storeTogether(results: readonly DeliveryResult[]): Promise<void> {
    const { database, clock, webhooks } = this.#options;
    const disabled = await storeResults(database.backgroundRunner, results, clock.now());
    for (const [id, reason] of disabled) {
      const { url } = results.find(({ delivery }) => delivery.endpoint.id === id)!.delivery.endpoint;
      await disableEndpoint({ clock, database, webhooks }, { id, url }, reason);
    }
  }

  /** Stores results one by one, so that one that the database rejects prevents no others. Its delivery is repeated when its lease ends. */
  async #storeEach(results: readonly DeliveryResult[]): Promise<void> {
    for (const result of results) {
      try {
        await this.#storeTogether([result]);
      } catch (error) {
        this.#options.onRejectedResult?.(result.delivery.endpoint.id, error);
      }
    }
  }
}
