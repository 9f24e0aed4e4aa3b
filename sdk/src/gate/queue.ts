import type { Client } from '../client.ts';
import { ApiError, ConnectionError, type FieldError, UnauthenticatedError } from '../errors.ts';
import { sleep } from '../transport.ts';

/** One physical event, as it is sent. */
export interface GateEvent {
  sourceEventId: string;
  sourceSignOnEventId?: string | null;
  workerId: string;
  type: 'SIGN_ON' | 'SIGN_OFF';
  occurredAt: string;
  deviceId?: string | null;
}

/** The final answer to an event. */
export interface GateResult {
  sourceEventId: string;
  /** `APPLIED`, `PENDING_SIGN_ON` while its sign-on is missing, or `REFUSED`, for people. */
  status: 'APPLIED' | 'PENDING_SIGN_ON' | 'REFUSED';
  /** Whether the service had the event already, from an attempt whose response was lost or from another gate. */
  duplicate?: boolean;
  /** Code of a refusal: of a conflict `ALREADY_SIGNED_OFF`, for example; `VALIDATION`; `FORBIDDEN` for an unknown worker. */
  code?: string;
  message?: string;
  errors?: FieldError[];
}

/** Keeps what the gate has recorded. `createFileStore` (Node) and `createIndexedDbStore` (browsers) are two. */
export interface GateStore {
  load(): Promise<{ events: GateEvent[]; results: GateResult[] }>;
  /** When it resolves, the events survive a power failure. */
  addEvents(events: GateEvent[]): Promise<void>;
  /** May be lost in a power failure: the event is then sent once more. */
  addResult(result: GateResult): Promise<void>;
  /** Removes events with their results. */
  remove(sourceEventIds: string[]): Promise<void>;
}

export interface GateOptions {
  client: Pick<Client, 'signOnEvents'>;
  builderId: string;
  projectId: string;
  store: GateStore;
  deviceId?: string;
  /** Maximum milliseconds between two attempts. Default 30,000. */
  maxRetryDelayMs?: number;
  /** Called for each event that is refused: a conflict (409), or an event that people have to correct. */
  onRefused?: (event: GateEvent, result: GateResult) => void;
}

/** Maximum milliseconds by which the service accepts an event ahead of its own clock (ATT-3). */
const ACCEPTED_AHEAD_MS = 5_000;

/**
 * The durable queue of a gate: an event is stored before the gate opens, and sent with the same id and data until the service has answered,
 * also after a restart. A sign-off is sent after its sign-on; nothing else waits for another event.
 */
export class GateQueue {
  readonly #options: GateOptions;
  readonly #events: Map<string, GateEvent>;
  readonly #results: Map<string, GateResult>;

  private constructor(options: GateOptions, events: GateEvent[], results: GateResult[]) {
    this.#options = options;
    this.#events = new Map(events.map((event) => [event.sourceEventId, event]));
    this.#results = new Map(results.map((result) => [result.sourceEventId, result]));
  }

  /** Opens the store, and removes what was applied. Events without a result are sent by the next `deliver`. */
  static async open(options: GateOptions): Promise<GateQueue> {
    const { events, results } = await options.store.load();
    const applied = new Set(results.filter(({ status }) => status === 'APPLIED').map((result) => result.sourceEventId));
    if (applied.size > 0) await options.store.remove([...applied]);
    const isOpen = ({ sourceEventId }: { sourceEventId: string }) => !applied.has(sourceEventId);
    return new GateQueue(options, events.filter(isOpen), results.filter(isOpen));
  }

  signOn(workerId: string, at = new Date()): Promise<GateEvent> {
    return this.#record({ workerId, type: 'SIGN_ON', occurredAt: at.toISOString() });
  }

  signOff({ workerId, sourceEventId }: GateEvent, at = new Date()): Promise<GateEvent> {
    return this.#record({
      workerId,
      type: 'SIGN_OFF',
      sourceSignOnEventId: sourceEventId,
      occurredAt: at.toISOString(),
    });
  }

  /** Adds events. When it resolves they survive a power failure, and the gate may open. */
  async enqueue(...events: GateEvent[]): Promise<void> {
    await this.#options.store.addEvents(events);
    for (const event of events) this.#events.set(event.sourceEventId, event);
  }

  /** Events without a final answer. */
  get pending(): GateEvent[] {
    return [...this.#events.values()].filter(({ sourceEventId }) => !this.#results.has(sourceEventId));
  }

  get results(): GateResult[] {
    return [...this.#results.values()];
  }

  /** Refused events, for people. They are not sent again, nor under a new id. */
  get refused(): GateResult[] {
    return this.results.filter(({ status }) => status === 'REFUSED');
  }

  /** Forgets an event that has a result: one that was applied, or refused and reviewed. */
  async forget(sourceEventId: string): Promise<void> {
    if (!this.#results.has(sourceEventId)) throw new Error(`${sourceEventId} has no result yet.`);
    await this.#options.store.remove([sourceEventId]);
    this.#events.delete(sourceEventId);
    this.#results.delete(sourceEventId);
  }

  /** Returns a refused event to the queue with its id and data: the reason was a connection that is active again, for example. */
  async retry(sourceEventId: string): Promise<void> {
    const event = this.#events.get(sourceEventId);
    if (!event) throw new Error(`${sourceEventId} is not in the queue.`);
    await this.forget(sourceEventId);
    await this.enqueue(event);
  }

  /**
   * Sends the pending events until each has a final answer. An event that is ahead of the service's clock is sent again when the clock has
   * reached it. Throws when the credentials are not accepted; every event is then still pending.
   */
  async deliver(signal?: AbortSignal): Promise<void> {
    const { maxRetryDelayMs = 30_000 } = this.#options;
    /** Time of the next attempt by event id, on the clock of `performance`, which does not change with the system clock. */
    const notBefore = new Map<string, number>();
    for (;;) {
      for (const event of this.pending) {
        const { sourceEventId } = event;
        if (this.#waitsForSignOn(event) || (notBefore.get(sourceEventId) ?? 0) > performance.now()) continue;
        const waitMs = await this.#send(event, signal);
        // Not later than the maximum, because the service's clock may be corrected.
        notBefore.set(sourceEventId, performance.now() + Math.min(waitMs, maxRetryDelayMs));
      }
      const next = this.pending.filter((event) => !this.#waitsForSignOn(event));
      if (next.length === 0) return;
      const nextAt = Math.min(...next.map(({ sourceEventId }) => notBefore.get(sourceEventId) ?? 0));
      await sleep(Math.max(0, nextAt - performance.now()), signal);
    }
  }

  #waitsForSignOn({ sourceEventId, sourceSignOnEventId }: GateEvent): boolean {
    if (sourceSignOnEventId == null || sourceSignOnEventId === sourceEventId) return false;
    return this.#events.has(sourceSignOnEventId) && !this.#results.has(sourceSignOnEventId);
  }

  async #record(observed: Omit<GateEvent, 'sourceEventId'>): Promise<GateEvent> {
    const { deviceId = null } = this.#options;
    const event = { sourceEventId: `${deviceId ?? 'gate'}-${crypto.randomUUID()}`, deviceId, ...observed };
    await this.enqueue(event);
    return event;
  }

  /** Sends an event and stores its result. Returns the milliseconds until the next attempt when the answer was not final, else 0. */
  async #send(event: GateEvent, signal?: AbortSignal): Promise<number> {
    const { client, builderId, projectId, maxRetryDelayMs = 30_000 } = this.#options;
    try {
      const { data } = await client.signOnEvents.record({ builderId, projectId, ...event }, { signal });
      const { status, duplicate } = data;
      await this.#finish(event, { sourceEventId: event.sourceEventId, status, duplicate });
      return 0;
    } catch (error) {
      if (error instanceof ConnectionError) return Math.random() * maxRetryDelayMs;
      if (!(error instanceof ApiError) || error instanceof UnauthenticatedError || error.code === 'INSUFFICIENT_SCOPE')
        throw error;
      if (error.status >= 500 || error.status === 429) return Math.random() * maxRetryDelayMs;
      const waitMs = millisecondsAhead(event, error);
      if (waitMs > 0) return waitMs;
      const { code, message, errors } = error;
      await this.#finish(event, { sourceEventId: event.sourceEventId, status: 'REFUSED', code, message, errors });
      return 0;
    }
  }

  async #finish(event: GateEvent, result: GateResult): Promise<void> {
    await this.#options.store.addResult(result);
    this.#results.set(event.sourceEventId, result);
    if (result.status === 'REFUSED') this.#options.onRefused?.(event, result);
  }
}

/**
 * Returns the milliseconds until the service accepts an event that it rejected as ahead of its clock; 0 for every other error. The `Date`
 * header is the service's clock in whole seconds, so the result is never too small.
 */
function millisecondsAhead(event: GateEvent, { status, errors, date }: ApiError): number {
  if (status !== 400 || date === null || errors.length !== 1 || errors[0]!.fieldName !== 'occurredAt') return 0;
  const ahead = Date.parse(event.occurredAt) - date.getTime() - ACCEPTED_AHEAD_MS;
  return Number.isNaN(ahead) ? 0 : Math.max(0, ahead);
}
