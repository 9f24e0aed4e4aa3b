/**
 * A gate that loses nothing: what it sees goes to its own disk first and to the service when the network allows, as often
 * as it takes, under the id and with the data that it was given when it was seen. Copy it, and bring your own token.
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

/** The service's last word on an event. */
interface Settled {
  sourceEventId: string;
  status: number;
  body: { code?: string; message?: string; data?: object; errors?: { fieldName: string; message: string }[] };
}

/** Milliseconds that the service lets an event be ahead of its own clock. */
const ACCEPTED_AHEAD_MS = 5_000;

export interface GateOptions {
  baseUrl: string;
  builderId: string;
  projectId: string;
  /** A valid access token; asked for before each request, and told when one was refused. */
  token: (refused?: string) => Promise<string>;
  /** Where the gate keeps what it has seen. */
  folder: string;
  deviceId?: string;
  /** Milliseconds before the first retry; it doubles with each one. */
  firstDelay?: number;
  /** Milliseconds that no delay passes. */
  longestDelay?: number;
  /** Milliseconds after which a request without an answer is sent again. */
  patience?: number;
}

export class GateClient {
  readonly #options: Required<Omit<GateOptions, 'deviceId'>> & Pick<GateOptions, 'deviceId'>;
  readonly #seen: Journal<GateEvent>;
  readonly #settled: Journal<Settled>;
  readonly #waiting: Map<string, GateEvent>;

  private constructor(options: GateOptions, seen: Journal<GateEvent>, settled: Journal<Settled>) {
    this.#options = { firstDelay: 250, longestDelay: 30_000, patience: 15_000, ...options };
    this.#seen = seen;
    this.#settled = settled;
    const done = new Set(settled.entries.map(({ sourceEventId }) => sourceEventId));
    const open = seen.entries.filter(({ sourceEventId }) => !done.has(sourceEventId));
    this.#waiting = new Map(open.map((event) => [event.sourceEventId, event]));
  }

  /** Goes on where the gate was switched off. */
  static async open(options: GateOptions): Promise<GateClient> {
    const seen = await Journal.open<GateEvent>(join(options.folder, 'seen.ndjson'));
    const settled = await Journal.open<Settled>(join(options.folder, 'settled.ndjson'));
    return new GateClient(options, seen, settled);
  }

  async signOn(workerId: string, at = new Date()): Promise<GateEvent> {
    return this.#see({ workerId, type: 'SIGN_ON', occurredAt: at.toISOString() });
  }

  async signOff(signOn: GateEvent, at = new Date()): Promise<GateEvent> {
    const { workerId, sourceEventId } = signOn;
    const event = { workerId, type: 'SIGN_OFF' as const, sourceSignOnEventId: sourceEventId };
    return this.#see({ ...event, occurredAt: at.toISOString() });
  }

  /** Takes in what was seen elsewhere. It is kept when this returns, and the gate may open. */
  async keep(...events: GateEvent[]): Promise<void> {
    for (const event of events) this.#waiting.set(event.sourceEventId, event);
    await this.#seen.append(events, { durable: true });
  }

  /** What has no answer yet. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * What the service has refused for good, every 400 but one of a clock that is ahead included: kept on the disk, for people to look at.
   * It is never sent again, and never under a fresh id.
   */
  get refused(): Settled[] {
    return this.#settled.entries.filter(({ status }) => status >= 400);
  }

  get settled(): readonly Settled[] {
    return this.#settled.entries;
  }

  /**
   * Sends until everything is answered, oldest first. The order is for people; the service takes any. An event that is in the future of
   * the service's clock is kept, and sent again when its time has come; the others do not wait for it.
   */
  async deliver(signal?: AbortSignal): Promise<void> {
    /** When to send an event again, on the clock of `performance`, which no correction of the time of day moves. */
    const notBefore = new Map<string, number>();
    while (this.#waiting.size > 0) {
      for (const event of this.#waiting.values()) {
        const { sourceEventId } = event;
        if ((notBefore.get(sourceEventId) ?? 0) > performance.now()) continue;
        const { settled, wait } = await this.#send(event, signal);
        if (wait > 0) {
          // Asked again at the latest after the longest delay: the service's clock may have been corrected.
          notBefore.set(sourceEventId, performance.now() + Math.min(wait, this.#options.longestDelay));
          continue;
        }
        // Were this lost, the event would be sent once more, and answered with 200.
        await this.#settled.append([settled], { durable: false });
        this.#waiting.delete(sourceEventId);
      }
      if (this.#waiting.size === 0) return;
      const next = Math.min(...[...this.#waiting.keys()].map((id) => notBefore.get(id) ?? 0));
      await sleep(Math.max(0, next - performance.now()), undefined, { signal });
    }
  }

  async #see(seen: Omit<GateEvent, 'sourceEventId'>): Promise<GateEvent> {
    const { deviceId = null } = this.#options;
    const event = { sourceEventId: `${deviceId ?? 'gate'}-${randomUUID()}`, deviceId, ...seen };
    await this.keep(event);
    return event;
  }

  /**
   * One event, until it has an answer: the same bytes each time.
   *
   * @returns the answer, and the milliseconds until the event is no longer in the future of the service; 0 when the answer stands.
   */
  async #send(event: GateEvent, signal?: AbortSignal): Promise<{ settled: Settled; wait: number }> {
    const { token, firstDelay, longestDelay } = this.#options;
    let refused: string | undefined;
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted();
      let wait = Math.random() * Math.min(longestDelay, firstDelay * 2 ** attempt);
      try {
        const sent = await token(refused);
        const { status, headers, body } = await this.#post(event, sent);
        if (status === 401) refused = sent;
        else if (status < 500 && status !== 429) {
          const settled = { sourceEventId: event.sourceEventId, status, body };
          return { settled, wait: millisecondsAhead(event, settled, headers.get('date')) };
        }
        wait += Number(headers.get('retry-after') ?? 0) * 1000;
      } catch (error) {
        // The network failed, and whether the event has arrived is unknown: that is what its id is for.
        if (signal?.aborted) throw error;
      }
      await sleep(wait, undefined, { signal });
    }
  }

  async #post(event: GateEvent, token: string) {
    const { baseUrl, builderId, projectId, patience } = this.#options;
    const response = await fetch(`${baseUrl}/builders/${builderId}/projects/${projectId}/sign-on-events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-service-api-version': 'v1' },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(patience),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Settled['body'] };
  }
}

/**
 * Milliseconds until the service accepts an event that it refused as being in the future; 0 for every other answer. The `Date` header is
 * the service's clock, in whole seconds, so the result is never too small.
 */
function millisecondsAhead(event: GateEvent, { status, body }: Settled, date: string | null): number {
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

/** A token source for `GateOptions`: the client-credentials grant, asked again a minute before a token ends. */
export function clientCredentials({
  baseUrl,
  clientId,
  clientSecret,
  audience = baseUrl,
}: Credentials): GateOptions['token'] {
  let held: { token: string; until: number } | null = null;
  return async (refused) => {
    if (held && held.token !== refused && Date.now() < held.until) return held.token;
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
    held = { token, until: Date.now() + (seconds - 60) * 1000 };
    return token;
  };
}
