import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../database/database.ts';
import { isTransientError } from '../../../database/errors.ts';
import type { StatementRunner } from '../../../database/pool/statement-runner.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Attempt } from '../receiver-client.ts';
import type { WebhookTools } from '../webhook-context.ts';
import { Audiences } from './audiences.ts';
import { createBatchedLoader } from './batched-loader.ts';
import type { DeliveryEnvironment } from './delivery-environment.ts';
import { EndpointDelivery } from './endpoint-delivery.ts';
import { IntegratorCounts, REQUEST_LIMITS, UNFINISHED_LIMITS } from './integrator-counts.ts';
import { type LeasedEndpoint, Leases } from './leases.ts';
import { LogTail } from './log-tail.ts';
import { type DeliveryRow, dropPending, type ResultBatch, readPending, writeResults } from './results.ts';

/** Interval at which leases are renewed. The endpoints' settings are read more often. */
const RENEW_MS = 1_000;

/** Milliseconds after which an endpoint whose results were rejected starts again. It then repeats their deliveries. */
const REJECTED_PAUSE_MS = 60_000;

/** Interval at which requests are looked at while they end. */
const SETTLE_MS = 5;

export interface DispatcherOptions {
  database: Pick<Database, 'backgroundRunner'>;
  clock: Clock;
  webhooks: WebhookTools;
  onAttempt?: (attempt: Attempt, row: DeliveryRow) => void;
  onUnreadableSecret?: (endpointId: string, error: unknown) => void;
  onRejectedResults?: (endpointId: string, error: unknown) => void;
}

interface StoppingDelivery {
  delivery: EndpointDelivery;
  /** Whether this process keeps the lease. */
  isRestarting: boolean;
  /** Earliest time of the release, in milliseconds since the Unix epoch. */
  releaseAt: number;
}

interface DispatcherStatistics {
  endpoints: number;
  /** Endpoints whose deliveries wait because no configured key decrypts their secret. */
  unreadableSecrets: number;
  pending: number;
  inFlight: number;
  oldestSeconds: number;
}

/**
 * Delivers events to the endpoints of a region. The processes that do share the endpoints among them by leases, so that no endpoint has
 * two. Call `refresh`, `poll` and `flush` at intervals: see `startDispatchers`.
 */
export class Dispatcher {
  readonly #runner: StatementRunner;
  readonly #leases: Leases;
  readonly #tail: LogTail;
  readonly #environment: DeliveryEnvironment;
  readonly #deliveries = new Map<string, EndpointDelivery>();
  /** Deliveries that make no further attempts, until their requests have ended and are stored. */
  readonly #stopping = new Map<string, StoppingDelivery>();
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** A batch that could not be stored yet. */
  #unwritten: ResultBatch | null = null;
  #flushing: Promise<void> | null = null;
  #isStopping = false;

  constructor({ database, clock, webhooks, ...callbacks }: DispatcherOptions) {
    const { backgroundRunner } = database;
    this.#runner = backgroundRunner;
    this.#leases = new Leases(backgroundRunner, randomUUID());
    const audiences = new Audiences(backgroundRunner);
    this.#tail = new LogTail({ runner: backgroundRunner, backgroundRunner }, audiences);
    this.#environment = {
      ...{ clock, webhooks, audiences, tail: this.#tail, requests: new IntegratorCounts(REQUEST_LIMITS) },
      unfinished: new IntegratorCounts(UNFINISHED_LIMITS),
      loadEndpoint: createBatchedLoader(async (ids) => {
        const endpoints = await this.#leases.loadSome(ids);
        return new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
      }),
      readPending: async (id, after) => (await readPending(backgroundRunner, [id], after)).get(id)!,
      dropPending: (endpoint, after, visible) =>
        dropPending(backgroundRunner, this.#leases.owner, endpoint, after, visible),
      mayDeliver: () => this.#leases.isValid && !this.#isStopping,
      signal: () => this.#leases.signal,
      onAttempt: callbacks.onAttempt ?? (() => undefined),
      onUnreadableSecret: callbacks.onUnreadableSecret ?? (() => undefined),
      onRejectedResults: callbacks.onRejectedResults ?? (() => undefined),
    };
  }

  /** Number of unfinished deliveries, requests in progress, and age in seconds of the oldest unfinished delivery. */
  get statistics(): DispatcherStatistics {
    const now = this.#environment.clock.now();
    let [pending, oldest, unreadableSecrets] = [0, now, 0];
    for (const { queue, hasUnreadableSecret } of this.#deliveries.values()) {
      if (hasUnreadableSecret) unreadableSecrets++;
      pending += queue.size;
      oldest = Math.min(oldest, queue.oldestStart ?? now);
    }
    const inFlight = this.#environment.requests.total;
    const oldestSeconds = (now - oldest) / 1000;
    return { endpoints: this.#deliveries.size, unreadableSecrets, pending, inFlight, oldestSeconds };
  }

  /** Whether it delivers to an endpoint, or stops to. */
  get hasEndpoints(): boolean {
    return this.#deliveries.size + this.#stopping.size > 0;
  }

  /** Renews the leases, applies changed settings of endpoints, and drops deliveries that are not visible any more. */
  async refresh(): Promise<void> {
    const now = performance.now();
    const isDue = now - this.#renewedAt >= RENEW_MS || !this.#leases.isValid;
    const heldCount = this.#deliveries.size + this.#stopping.size;
    const { endpoints, share, validUntil } = isDue
      ? await this.#leases.renew(heldCount)
      : { endpoints: await this.#leases.load(), share: Number.POSITIVE_INFINITY, validUntil: null };
    if (isDue) this.#renewedAt = now;
    const isRestored = isDue && (await this.#tail.resetAfterRestore());
    if (isRestored) this.#discardResults();
    this.#stopOthers(new Map(endpoints.map((endpoint) => [endpoint.id, endpoint])), isRestored ? 0 : share);
    if (validUntil !== null) this.#leases.extend(validUntil);
    await this.#startNew(endpoints.filter(({ id }) => !this.#deliveries.has(id) && !this.#stopping.has(id)));
    await Promise.all([...this.#deliveries.values()].map((delivery) => delivery.dropInvisible()));
    await this.#releaseStopped();
  }

  /** Does the same, and renews the leases also before they are due. */
  async renewNow(): Promise<void> {
    this.#renewedAt = Number.NEGATIVE_INFINITY;
    await this.refresh();
  }

  /** Reads new events and attempts what is due. Requests continue after it returns. */
  async poll(): Promise<void> {
    if (this.#deliveries.size === 0) return;
    await this.#tail.poll();
    const { unfinished } = this.#environment;
    unfinished.clear();
    for (const { endpoint, queue } of this.#deliveries.values()) unfinished.add(endpoint.integratorId, queue.size);
    // Not awaited: an endpoint that is far behind reads the log. The next poll tries again what fails.
    for (const delivery of this.#deliveries.values()) delivery.step().catch(() => undefined);
  }

  /** Stores results. A batch that cannot be stored now is stored by the next call. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  /** Clears the cached audiences, so that the next use loads them again. */
  clearAudiences(): void {
    this.#environment.audiences.clear();
  }

  /** Ends the requests in progress, as when the leases are not renewed in time. */
  expireLeases(): void {
    this.#leases.expire();
  }

  /** Waits until no request is being made, and stores the results. */
  async settle(): Promise<void> {
    while (this.#listDeliveries().some(({ isIdle }) => !isIdle)) await sleep(SETTLE_MS);
    await this.#flushAll();
  }

  /** Ends the requests that do not end within the time, stores the results, and leaves the endpoints to other processes. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    const abort = setTimeout(() => this.#leases.expire(), graceMs);
    await this.settle();
    clearTimeout(abort);
    await this.#leases.release([...this.#deliveries.keys(), ...this.#stopping.keys()]);
    await this.#leases.unregister();
  }

  #listDeliveries(): EndpointDelivery[] {
    return [...this.#deliveries.values(), ...[...this.#stopping.values()].map(({ delivery }) => delivery)];
  }

  /** Drops results that are not stored yet. After a restore the log continues at an earlier number, so that their positions are those of other events. */
  #discardResults(): void {
    this.#unwritten = null;
    for (const delivery of this.#listDeliveries()) delivery.discardResults();
  }

  /** Stops the deliveries to endpoints that are not leased any more, that were reset, or that exceed the share. */
  #stopOthers(leased: ReadonlyMap<string, LeasedEndpoint>, share: number): void {
    for (const [id, delivery] of this.#deliveries) {
      const endpoint = leased.get(id);
      const isExcess = this.#deliveries.size > share;
      if (endpoint?.generation === delivery.endpoint.generation && !isExcess) {
        delivery.endpoint = endpoint;
        continue;
      }
      delivery.stop();
      this.#deliveries.delete(id);
      this.#stopping.set(id, { delivery, isRestarting: endpoint !== undefined && !isExcess, releaseAt: 0 });
    }
  }

  async #startNew(endpoints: LeasedEndpoint[]): Promise<void> {
    if (endpoints.length === 0) return;
    const pending = await readPending(
      this.#runner,
      endpoints.map(({ id }) => id),
    );
    for (const endpoint of endpoints) {
      this.#deliveries.set(endpoint.id, new EndpointDelivery(this.#environment, endpoint, pending.get(endpoint.id)!));
    }
  }

  async #releaseStopped(): Promise<void> {
    const now = this.#environment.clock.now();
    let ended = [...this.#stopping].filter(([, { delivery, releaseAt }]) => delivery.isIdle && now >= releaseAt);
    if (ended.length === 0) return;
    await this.#flushAll();
    // Not those whose results were rejected just now.
    ended = ended.filter(([id, stopping]) => this.#stopping.get(id) === stopping);
    await this.#leases.release(ended.filter(([, { isRestarting }]) => !isRestarting).map(([id]) => id));
    for (const [id] of ended) this.#stopping.delete(id);
  }

  /** Stores everything that there is now, which a flush in progress may not include. */
  async #flushAll(): Promise<void> {
    await this.flush();
    await this.flush();
  }

  async #flush(): Promise<void> {
    const batch = this.#unwritten ?? this.#collect();
    if (!batch || batch.progress.length === 0) return;
    this.#unwritten = batch;
    try {
      await this.#write(batch);
    } catch (error) {
      if (isTransientError(error)) throw error;
      await this.#writeByEndpoint(batch);
    }
    this.#unwritten = null;
  }

  async #write(batch: ResultBatch): Promise<void> {
    const owned = await writeResults(this.#runner, this.#leases.owner, batch);
    for (const { endpoint_id: id } of batch.progress) {
      if (owned.has(id)) continue;
      // Another process has it, it was reset, or the log was restored. A later `refresh` starts it again.
      this.#deliveries.get(id)?.stop();
    }
  }

  /** Stores the results of each endpoint by themselves, so that those which the database rejects prevent no others. */
  async #writeByEndpoint({ epoch, progress, rows }: ResultBatch): Promise<void> {
    for (const each of progress) {
      const { endpoint_id: id } = each;
      try {
        await this.#write({ epoch, progress: [each], rows: rows.filter((row) => row.endpoint_id === id) });
      } catch (error) {
        if (isTransientError(error)) throw error;
        this.#restartFromStoredState(id, error);
      }
    }
  }

  /** Stops an endpoint without its results and, after a pause, releases its lease. Its position passes no delivery that is not stored. */
  #restartFromStoredState(id: string, error: unknown): void {
    const delivery = this.#deliveries.get(id) ?? this.#stopping.get(id)?.delivery;
    if (!delivery) return;
    delivery.discardResults();
    this.#deliveries.delete(id);
    const releaseAt = this.#environment.clock.now() + REJECTED_PAUSE_MS;
    this.#stopping.set(id, { delivery, isRestarting: false, releaseAt });
    this.#environment.onRejectedResults(id, error);
  }

  #collect(): ResultBatch | null {
    const { epoch } = this.#tail;
    // No event of this log was read yet.
    if (epoch === null) return null;
    const batch: ResultBatch = { epoch, progress: [], rows: [] };
    const now = performance.now();
    for (const delivery of this.#listDeliveries()) {
      const changes = delivery.takeChanges(now);
      if (!changes) continue;
      batch.progress.push(changes.progress);
      batch.rows.push(...changes.rows);
    }
    return batch;
  }
}
