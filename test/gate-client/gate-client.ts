/**
 * An example client for gates. It writes each event to the local disk before it sends it, and repeats the request with the same id and
 * payload until the service responds, also after a restart. Copy it and pass your own `getToken`.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Journal } from './journal.ts';

/** One physical event, as it is sent. */
export interface GateEvent {
  sourceEventId: string;
  sourceSignOnEventId?: string | null;
  workerId: string;
  type: 'SIGN_ON' | 'SIGN_OFF';
  occurredAt: string;
  deviceId?: string | null;
}

/** The final response of the service to an event. */
interface EventResult {
  sourceEventId: string;
  status: number;
  body: { code?: string; message?: string; data?: object; errors?: { fieldName: string; message: string }[] };
}

/** Maximum milliseconds by which the service accepts an event ahead of its own clock (ATT-3). */
const ACCEPTED_AHEAD_MS = 5_000;

export interface GateOptions {
  baseUrl: string;
  builderId: string;
  projectId: string;
  /** Returns a valid access token. Called before each request, with the token that the service rejected, if any. */
  getToken: (rejectedToken?: string) => Promise<string>;
  /** Folder of the journals of events and results. */
  folder: string;
  deviceId?: string;
  /** Milliseconds before the first retry; it doubles with each one. */
  firstRetryDelayMs?: number;
  /** Maximum milliseconds between two attempts. */
  maxRetryDelayMs?: number;
  /** Milliseconds after which a request without a response is sent again. */
  requestTimeoutMs?: number;
}

export class GateClient {
  readonly #options: Required<Omit<GateOptions, 'deviceId'>> & Pick<GateOptions, 'deviceId'>;
  readonly #events: Journal<GateEvent>;
  readonly #results: Journal<EventResult>;
  readonly #pending: Map<string, GateEvent>;

  private constructor(options: GateOptions, events: Journal<GateEvent>, results: Journal<EventResult>) {
    this.#options = { firstRetryDelayMs: 250, maxRetryDelayMs: 30_000, requestTimeoutMs: 15_000, ...options };
    this.#events = events;
    this.#results = results;
    const finished = new Set(results.entries.map(({ sourceEventId }) => sourceEventId));
    const pending = events.entries.filter(({ sourceEventId }) => !finished.has(sourceEventId));
    this.#pending = new Map(pending.map((event) => [event.sourceEventId, event]));
  }

  /** Opens the journals of the folder. Events without a result are sent by the next `deliver`. */
  static async open(options: GateOptions): Promise<GateClient> {
    const events = await Journal.open<GateEvent>(join(options.folder, 'events.ndjson'));
    const results = await Journal.open<EventResult>(join(options.folder, 'results.ndjson'));
    return new GateClient(options, events, results);
  }

  async signOn(workerId: string, at = new Date()): Promise<GateEvent> {
    return this.#record({ workerId, type: 'SIGN_ON', occurredAt: at.toISOString() });
  }

  async signOff(signOn: GateEvent, at = new Date()): Promise<GateEvent> {
    const { workerId, sourceEventId } = signOn;
    const event = { workerId, type: 'SIGN_OFF' as const, sourceSignOnEventId: sourceEventId };
    return this.#record({ ...event, occurredAt: at.toISOString() });
  }

  /** Adds events to the journal. When it resolves they survive a power failure, and the gate may open. */
  async enqueue(...events: GateEvent[]): Promise<void> {
    for (const event of events) this.#pending.set(event.sourceEventId, event);
    await this.#events.append(events, { durable: true });
  }

  /** Number of events without a final response. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /**
   * Returns the events that the service has rejected finally, for manual review. This includes each 400, except for an event that is ahead of
   * the service's clock. They are never sent again, nor under a new id.
   */
  get rejected(): EventResult[] {
    return this.#results.entries.filter(({ status }) => status >= 400);
  }

  get results(): readonly EventResult[] {
    return this.#results.entries;
  }

  /**
   * Sends the pending events, oldest first, until each has a final response. The service accepts any order. An event ahead of the service's
   * clock is sent again when the clock has reached it; the others do not wait for it.
   */
  async deliver(signal?: AbortSignal): Promise<void> {
    /** Time of the next attempt by event id, on the clock of `performance`, which does not change with the system clock. */
    const notBefore = new Map<string, number>();
    while (this.#pending.size > 0) {
      for (const event of this.#pending.values()) {
        const { sourceEventId } = event;
        if ((notBefore.get(sourceEventId) ?? 0) > performance.now()) continue;
        const { result, wait } = await this.#send(event, signal);
        if (wait > 0) {
          // Not later than the maximum delay, because the service's clock may be corrected.
          notBefore.set(sourceEventId, performance.now() + Math.min(wait, this.#options.maxRetryDelayMs));
          continue;
        }
        // If this entry is lost, the event is sent once more and the service responds with 200.
        await this.#results.append([result], { durable: false });
        this.#pending.delete(sourceEventId);
      }
      if (this.#pending.size === 0) return;
      const next = Math.min(...[...this.#pending.keys()].map((id) => notBefore.get(id) ?? 0));
      await sleep(Math.max(0, next - performance.now()), undefined, { signal });
    }
  }

  async #record(observed: Omit<GateEvent, 'sourceEventId'>): Promise<GateEvent> {
    const { deviceId = null } = this.#options;
    const event = { sourceEventId: `${deviceId ?? 'gate'}-${randomUUID()}`, deviceId, ...observed };
    await this.enqueue(event);
    return event;
  }

  /**
   * Sends an event with the same bytes until there is a response that is not a failure.
   *
   * @returns the response, and the milliseconds until the service's clock reaches the event; 0 when the response is final.
   */
  async #send(event: GateEvent, signal?: AbortSignal): Promise<{ result: EventResult; wait: number }> {
    const { getToken, firstRetryDelayMs, maxRetryDelayMs } = this.#options;
    let rejectedToken: string | undefined;
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted();
      let wait = Math.random() * Math.min(maxRetryDelayMs, firstRetryDelayMs * 2 ** attempt);
      try {
        const token = await getToken(rejectedToken);
        const { status, headers, body } = await this.#post(event, token);
        if (status === 401) rejectedToken = token;
        else if (status < 500 && status !== 429) {
          const result = { sourceEventId: event.sourceEventId, status, body };
          return { result, wait: millisecondsAhead(event, result, headers.get('date')) };
        }
        wait += Number(headers.get('retry-after') ?? 0) * 1000;
      } catch (error) {
        // The network failed. The id makes the repetition safe, whether or not the event has arrived.
        if (signal?.aborted) throw error;
      }
      await sleep(wait, undefined, { signal });
    }
  }

  async #post(event: GateEvent, token: string) {
    const { baseUrl, builderId, projectId, requestTimeoutMs } = this.#options;
    const response = await fetch(`${baseUrl}/builders/${builderId}/projects/${projectId}/sign-on-events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-service-api-version': 'v1' },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as EventResult['body'] };
  }
}

/**
 * Returns the milliseconds until the service accepts an event that it rejected as ahead of its clock; 0 for every other response.
 * The `Date` header is the service's clock in whole seconds, so the result is never too small.
 */
function millisecondsAhead(event: GateEvent, { status, body }: EventResult, date: string | null): number {
  const fields = body.errors?.map(({ fieldName }) => fieldName) ?? [];
  if (status !== 400 || date === null || fields.length !== 1 || fields[0] !== 'occurredAt') return 0;
  const ahead = Date.parse(event.occurredAt) - Date.parse(date) - ACCEPTED_AHEAD_MS;
  return Number.isNaN(ahead) ? 0 : Math.max(0, ahead);
}

export interface Credentials {
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  /** The API's public address, where that is not `baseUrl`. */
  audience?: string;
}

/** Returns a `getToken` that uses the client-credentials grant and requests a new token a minute before the last one expires. */
export function createTokenSource({
  baseUrl,
  clientId,
  clientSecret,
  audience = baseUrl,
}: Credentials): GateOptions['getToken'] {
  let cached: { token: string; until: number } | null = null;
  return async (rejectedToken) => {
    if (cached && cached.token !== rejectedToken && Date.now() < cached.until) return cached.token;
    const response = await fetch(`${baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
        audience,
        scope: 'write:sign_on_events',
      }),
      signal: AbortSignal.timeout(15_000),
    });
    if (!response.ok) throw new Error(`No token: ${response.status}`);
    const { access_token: token, expires_in: seconds } = (await response.json()) as {
      access_token: string;
      expires_in: number;
    };
    cached = { token, until: Date.now() + (seconds - 60) * 1000 };
    return token;
  };
}
