import type { WebhookDisabledReason } from '../../../../schema/webhook.scalars.ts';
import { EventFilter } from '../../events/event-filter.ts';
import type { LoggedEvent, LogPosition } from '../../events/event-log.ts';
import { createEventBody } from '../event-body.ts';
import type { Attempt } from '../receiver-client.ts';
import { toDisabledEntry } from '../record-endpoint.ts';
import { signWebhook } from '../signature.ts';
import { isSuccess } from '../test-event.ts';
import type { EndpointAudience } from './audiences.ts';
import type { DeliveryEnvironment } from './delivery-environment.ts';
import { EndpointQueue, type QueuedDelivery } from './endpoint-queue.ts';
import { paceAttempt } from './integrator-counts.ts';
import type { LeasedEndpoint } from './leases.ts';
import { type DeliveryRow, type ProgressRow, toLoggedEvent } from './results.ts';
import { DISABLE_MS, suspendedUntil } from './schedule.ts';
import { SigningSecrets } from './signing-secrets.ts';
import { UnloadedDeliveries } from './unloaded-deliveries.ts';

/** Maximum concurrent requests to an endpoint. It begins with few, and gets fewer with each failure. */
const MAX_CONCURRENCY = 16;
const FIRST_CONCURRENCY = 2;

/** Deliveries that are neither stored nor finished, above which an endpoint reads no more events. */
const MAX_UNSETTLED = 1_000;

/** Events that are read at a time. */
const READ_SIZE = 100;

/** Interval at which the position is stored while nothing is delivered. After a crash the events since then are read again. */
const IDLE_WRITE_MS = 5_000;

/** Delivers events to one endpoint, which only this process does. Its state is stored with what `takeChanges` returns. */
export class EndpointDelivery {
  endpoint: LeasedEndpoint;
  readonly queue = new EndpointQueue();
  /** Whether no delivery can be signed, because the key of a secret is not configured any more. */
  hasUnreadableSecret = false;
  readonly #environment: DeliveryEnvironment;
  readonly #unloaded: UnloadedDeliveries;
  #readPosition: LogPosition;
  /** Position to store, and the one that is stored. */
  #position: LogPosition;
  #storedPosition: LogPosition;
  #concurrency = FIRST_CONCURRENCY;
  #inFlight = 0;
  /** Whether events or stored deliveries are being read, or the latter dropped. */
  #isReading = false;
  #isStopping = false;
  #isDiscarded = false;
  #hasChanges = false;
  #storedAt = 0;
  #failures: number;
  #failingSince: number | null;
  #suspendedUntil: number | null;
  #disabledReason: WebhookDisabledReason | null = null;
  #filter: { audience: EndpointAudience; endpoint: LeasedEndpoint; value: EventFilter } | null = null;
  readonly #secrets: SigningSecrets;

  constructor(environment: DeliveryEnvironment, endpoint: LeasedEndpoint, pending: readonly DeliveryRow[]) {
    this.#environment = environment;
    this.endpoint = endpoint;
    this.#secrets = new SigningSecrets(environment.webhooks.secrets);
    this.#unloaded = new UnloadedDeliveries(environment, pending);
    this.queue.addStored(pending, endpoint.position.number);
    this.#readPosition = this.#position = this.#storedPosition = endpoint.position;
    this.#failures = endpoint.failures;
    this.#failingSince = endpoint.failingSince;
    this.#suspendedUntil = endpoint.suspendedUntil;
  }

  /** Whether no request is being made. */
  get isIdle(): boolean {
    return this.#inFlight === 0 && !this.#isReading;
  }

  /** Makes no further attempts. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Makes no further attempts, and returns no changes: what was read is not of the present log. */
  discardResults(): void {
    this.#isStopping = this.#isDiscarded = true;
  }

  /** Reads events and attempts deliveries, as many as are due and allowed. */
  async step(): Promise<void> {
    if (!this.#canDeliver() || !this.#canSign()) return;
    await this.#read();
    this.#startAttempts();
  }

  /** Drops pending deliveries that the endpoint may not see any more (WHK-7). */
  async dropInvisible(): Promise<void> {
    if (this.queue.size === 0 && this.#unloaded.isEmpty) return;
    const audience = await this.#environment.audiences.load(this.endpoint.clientId);
    if (!audience || this.#isStopping) return;
    this.queue.dropUnless((row) => this.#isVisible(audience, toLoggedEvent(row)));
    await this.#dropUnloaded(audience);
  }

  /** Returns what is to be stored, once per change; null for nothing. */
  takeChanges(now: number): { progress: ProgressRow; rows: DeliveryRow[] } | null {
    if (this.#isDiscarded) return null;
    const { rows, position } = this.queue.takeChanges();
    if (position) this.#position = position;
    const isDue = this.#position !== this.#storedPosition && now - this.#storedAt >= IDLE_WRITE_MS;
    if (rows.length === 0 && !this.#hasChanges && !isDue) return null;
    this.#hasChanges = false;
    this.#storedPosition = this.#position;
    this.#storedAt = now;
    const { id, generation } = this.endpoint;
    const toIso = (instant: number | null) => (instant === null ? null : new Date(instant).toISOString());
    const progress = {
      ...{ endpoint_id: id, generation, ...this.#position, failures: this.#failures },
      ...{ failing_since: toIso(this.#failingSince), suspended_until: toIso(this.#suspendedUntil) },
      disabled_reason: this.#disabledReason,
      audit:
        this.#disabledReason &&
        toDisabledEntry(this.endpoint, 'ACTIVE', this.#disabledReason, this.#environment.clock.now()),
    };
    return { progress, rows };
  }

  #canDeliver(): boolean {
    if (this.#isStopping || this.#disabledReason !== null || !this.#environment.mayDeliver()) return false;
    return this.#suspendedUntil === null || this.#environment.clock.now() >= this.#suspendedUntil;
  }

  async #read(): Promise<void> {
    // Read before the audience is loaded.
    const { end } = this.#environment.tail;
    const newEnd = end && this.#readPosition.number < end.number ? end : null;
    if (this.#isReading || this.#isFull() || (this.#unloaded.isEmpty && !newEnd)) return;
    this.#isReading = true;
    try {
      // Events of the log wait for all stored deliveries: those of one record are attempted in order.
      while (!this.#unloaded.isEmpty && !this.#isFull()) await this.#readStored();
      if (newEnd && !this.#isFull()) await this.#readLog(newEnd);
    } finally {
      this.#isReading = false;
    }
  }

  #isFull(): boolean {
    const { size, unsettledCount } = this.queue;
    return (
      unsettledCount >= MAX_UNSETTLED || size >= this.#environment.unfinished.limit(this.endpoint.integratorId, size)
    );
  }

  async #readStored(): Promise<void> {
    const pending = await this.#unloaded.load(this.endpoint.id);
    this.#environment.unfinished.add(this.endpoint.integratorId, pending.length);
    this.queue.addStored(pending, this.#readPosition.number);
  }

  /** Not while deliveries are read, so that none is pending in memory and dropped in the database; the next refresh tries again. */
  async #dropUnloaded(audience: EndpointAudience): Promise<void> {
    if (this.#unloaded.isEmpty || this.#isReading) return;
    this.#isReading = true;
    try {
      const activeAfter = JSON.stringify(Object.fromEntries(audience.activeAfter));
      const visible = { ...this.#filterFor(audience).toParameters(), activeAfter };
      await this.#unloaded.dropInvisible(this.endpoint, visible);
    } finally {
      this.#isReading = false;
    }
  }

  async #readLog(end: LogPosition): Promise<void> {
    const { tail, audiences, clock } = this.#environment;
    const audience = await audiences.load(this.endpoint.clientId);
    if (!audience) return;
    const { events, next } = await tail.read(this.#readPosition, end, this.#filterFor(audience), READ_SIZE);
    const visibleEvents = events.filter((event) => this.#isVisible(audience, event));
    this.queue.addRead(this.endpoint.id, visibleEvents, next, clock.now());
    this.#readPosition = next;
  }

  #isVisible(audience: EndpointAudience, event: LoggedEvent): boolean {
    return this.#filterFor(audience).includes(event) && event.number > (audience.activeAfter.get(event.builderId) ?? 0);
  }

  /** Returns the filter of the events that the endpoint selects and may see. It is created again when one of these changes. */
  #filterFor(audience: EndpointAudience): EventFilter {
    const { endpoint } = this;
    if (this.#filter?.audience !== audience || this.#filter.endpoint !== endpoint) {
      this.#filter = { audience, endpoint, value: new EventFilter(audience, endpoint) };
    }
    return this.#filter.value;
  }

  #startAttempts(): void {
    const { clock } = this.#environment;
    while (this.#canDeliver() && this.#inFlight < this.#concurrencyLimit()) {
      const delivery = this.queue.take(clock.now());
      if (!delivery) return;
      this.#inFlight++;
      const { requests } = this.#environment;
      const { integratorId } = this.endpoint;
      requests.add(integratorId, 1);
      void this.#attempt(delivery).then((isConcluded) => {
        this.#inFlight--;
        requests.add(integratorId, -1);
        // Otherwise the next poll tries again.
        if (isConcluded) this.step().catch(() => undefined);
      });
    }
  }

  #concurrencyLimit(): number {
    if (this.#suspendedUntil !== null) return 1;
    const { requests } = this.#environment;
    return Math.min(this.#concurrency, requests.limit(this.endpoint.integratorId, this.#inFlight));
  }

  /** Attempts a delivery. Returns false when it was put back without an attempt. */
  async #attempt(delivery: QueuedDelivery): Promise<boolean> {
    const { audiences, clock, webhooks } = this.#environment;
    const { row } = delivery;
    try {
      await paceAttempt(this.endpoint.integratorId);
      const { clientId, id, generation } = this.endpoint;
      const audience = await audiences.load(clientId);
      // Read last: a change of the endpoint applies to every attempt that begins after its response (WHK-6).
      const endpoint = await this.#environment.loadEndpoint(id);
      if (!audience || endpoint?.generation !== generation || !this.#canDeliver()) return this.#returnToQueue(delivery);
      this.endpoint = endpoint;
      if (!this.#isVisible(audience, toLoggedEvent(row))) {
        this.queue.finish(delivery, 'DROPPED');
        return true;
      }
      const startedAt = clock.now();
      const signal = this.#environment.signal();
      const body = createEventBody(toLoggedEvent(row));
      const message = { id: row.event_id, timestamp: Math.floor(startedAt / 1000), body };
      const headers = { ...signWebhook(this.#secrets.decrypt(this.endpoint, startedAt), message) };
      const attempt = await webhooks.receivers.post(this.endpoint.url, headers, body, { signal });
      if (signal.aborted && attempt.status === null) return this.#returnToQueue(delivery);
      EndpointQueue.recordAttempt(delivery, attempt, startedAt);
      this.#recordResult(delivery, attempt, startedAt);
      this.#environment.onAttempt(attempt, row);
      return true;
    } catch {
      // The database cannot be read now.
      return this.#returnToQueue(delivery);
    }
  }

  #returnToQueue(delivery: QueuedDelivery): false {
    this.queue.putBack(delivery);
    return false;
  }

  #recordResult(delivery: QueuedDelivery, attempt: Attempt, startedAt: number): void {
    const now = this.#environment.clock.now();
    if (isSuccess(attempt)) {
      this.queue.finish(delivery, 'DELIVERED');
      this.#concurrency = Math.min(MAX_CONCURRENCY, this.#concurrency + 1);
      if (this.#failures > 0) this.#resetFailures();
    } else {
      this.queue.retry(delivery, now);
      this.#concurrency = Math.max(1, this.#concurrency >> 1);
      this.#failingSince ??= now;
      // Requests that were under way when the suspension began do not lengthen it.
      const isCounted = this.#suspendedUntil === null || startedAt >= this.#suspendedUntil;
      if (isCounted) this.#suspendedUntil = suspendedUntil(++this.#failures, now);
      if (attempt.status === 410) this.#disabledReason = 'GONE';
      else if (now - this.#failingSince >= DISABLE_MS) this.#disabledReason = 'NO_SUCCESS';
    }
    this.#hasChanges = true;
  }

  #resetFailures(): void {
    this.#failures = 0;
    this.#failingSince = null;
    this.#suspendedUntil = null;
  }

  #canSign(): boolean {
    const { clock, onUnreadableSecret } = this.#environment;
    try {
      this.#secrets.decrypt(this.endpoint, clock.now());
      this.hasUnreadableSecret = false;
    } catch (error) {
      if (!this.hasUnreadableSecret) onUnreadableSecret(this.endpoint.id, error);
      this.hasUnreadableSecret = true;
    }
    return !this.hasUnreadableSecret;
  }
}
