import type { Databases } from '../../database/database.ts';
import type { Clock } from '../../shared/clock.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';

/** Milliseconds between two writes. The counts of a killed process since its last write are lost. CON-10. */
const WRITE_INTERVAL_MS = 5_000;

const DAY_MS = 86_400_000;

/** Rejections that are kept of each integrator. CON-11. */
export const KEPT_REJECTIONS = 200;

/** Rejections of one integrator that a process holds until they are written. */
const MAX_BUFFERED = 50;

/** Characters of a rejection's reason and operation. */
const MAX_TEXT = 300;

/** A request that was rejected, with the reason in words. */
export interface RejectedRequest {
  clientId: string;
  operation: string;
  status: number;
  code: string;
  reason: string;
  requestId: string;
}

interface BufferedRejection extends RejectedRequest {
  at: string;
  integratorId: string;
}

interface Counts {
  requests: number;
  errors: number;
  rejections: number;
}

/** Rows are locked in one order, so that concurrent writers do not deadlock. */
const ADD_COUNTS = `insert into usage_day as day (integrator_id, date, requests, errors, rejections)
  select integrator_id, date, requests, errors, rejections from jsonb_to_recordset(?::jsonb)
      as counted (integrator_id text, date date, requests int, errors int, rejections int)
    where exists (select from integrator where id = integrator_id) order by integrator_id, date
  on conflict (integrator_id, date) do update set requests = day.requests + excluded.requests,
    errors = day.errors + excluded.errors, rejections = day.rejections + excluded.rejections`;

const ADD_REJECTIONS = `insert into rejection (at, integrator_id, client_id, operation, status, code, reason, request_id)
  select at, "integratorId", "clientId", operation, status, code, reason, "requestId" from jsonb_to_recordset(?::jsonb) as given
    (at timestamptz, "integratorId" text, "clientId" text, operation text, status int, code text, reason text, "requestId" text)
  where exists (select from oauth_client where id = "clientId")`;

const DROP_OLD = `delete from rejection using unnest(?::text[]) as integrator (id)
  where rejection.integrator_id = integrator.id and rejection.id <= (select kept.id from rejection kept
    where kept.integrator_id = integrator.id order by kept.id desc offset ${KEPT_REJECTIONS} limit 1)`;

/**
 * Counts the requests of integrators in memory and adds the counts to the tables once every few seconds, so that a request costs no
 * statement.
 */
export class RequestLog {
  readonly #databases: Databases;
  readonly #clock: Clock;
  readonly #report: (error: unknown) => void;
  /** Counts by day since the Unix epoch and integrator, by region. A text as key would take longer than the rest of `add`. */
  readonly #counts: Record<RegionId, Map<number, Map<string, Counts>>> = { au1: new Map(), us1: new Map() };
  readonly #rejections: Record<RegionId, Map<string, BufferedRejection[]>> = { au1: new Map(), us1: new Map() };
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> = Promise.resolve();
  #droppedRejections = 0;

  constructor(databases: Databases, clock: Clock, report: (error: unknown) => void) {
    this.#databases = databases;
    this.#clock = clock;
    this.#report = report;
    this.#timer = setInterval(() => this.write(), WRITE_INTERVAL_MS).unref();
  }

  /** Counts a request. @param rejection The reason for which it was rejected; null for other requests. */
  add(region: RegionId, integratorId: string, isError: boolean, rejection: RejectedRequest | null): void {
    const now = this.#clock.now();
    const counts = this.#countsOf(region, Math.floor(now / DAY_MS), integratorId);
    counts.requests++;
    if (isError) counts.errors++;
    if (!rejection) return;
    counts.rejections++;
    const operation = toStorable(rejection.operation);
    const reason = toStorable(rejection.reason);
    this.#buffer(region, integratorId, [
      { ...rejection, at: new Date(now).toISOString(), integratorId, operation, reason },
    ]);
  }

  /** Returns the counts of an integrator on a day, which it creates where there are none. */
  #countsOf(region: RegionId, day: number, integratorId: string): Counts {
    const integrators = this.#counts[region].get(day) ?? new Map<string, Counts>();
    const counts = integrators.get(integratorId) ?? { requests: 0, errors: 0, rejections: 0 };
    // A request that finds its counts writes nothing.
    if (counts.requests === 0) this.#counts[region].set(day, integrators.set(integratorId, counts));
    return counts;
  }

  /** Rejections that were not written, because there were too many of an integrator between two successful writes. */
  get droppedRejections(): number {
    return this.#droppedRejections;
  }

  /** Writes what was counted since the last write. What cannot be written is kept for the next time. */
  write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      for (const region of REGIONS) await this.#writeRegion(region).catch(this.#report);
    });
    return this.#writing;
  }

  /** Writes a last time. */
  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.write();
  }

  async #writeRegion(region: RegionId): Promise<void> {
    const counts = [...this.#counts[region]].flatMap(([day, integrators]) =>
      [...integrators].map(([integratorId, counted]) => ({ day, integratorId, counted })),
    );
    if (counts.length === 0 && this.#rejections[region].size === 0) return;
    this.#counts[region].clear();
    const rejections = [...this.#rejections[region]];
    this.#rejections[region].clear();
    const rows = counts.map(({ day, integratorId, counted }) => {
      const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
      return { integrator_id: integratorId, date, ...counted };
    });
    const work = this.#databases[region].transaction(async (em) => {
      await em.execute(ADD_COUNTS, [JSON.stringify(rows)]);
      if (rejections.length === 0) return;
      await em.execute(ADD_REJECTIONS, [JSON.stringify(rejections.flatMap(([, entries]) => entries))]);
      await em.execute(DROP_OLD, [`{${rejections.map(([integratorId]) => integratorId).join()}}`]);
    });
    await work.catch((error) => {
      for (const { day, integratorId, counted } of counts)
        addCounts(this.#countsOf(region, day, integratorId), counted);
      for (const [integratorId, entries] of rejections) {
        const since = this.#rejections[region].get(integratorId) ?? [];
        this.#rejections[region].delete(integratorId);
        this.#buffer(region, integratorId, [...entries, ...since]);
      }
      throw error;
    });
  }

  /** Keeps the latest rejections until the next write. */
  #buffer(region: RegionId, integratorId: string, added: readonly BufferedRejection[]): void {
    const entries = [...(this.#rejections[region].get(integratorId) ?? []), ...added];
    this.#droppedRejections += Math.max(0, entries.length - MAX_BUFFERED);
    this.#rejections[region].set(integratorId, entries.slice(-MAX_BUFFERED));
  }
}

function addCounts(counts: Counts, { requests, errors, rejections }: Counts): void {
  counts.requests += requests;
  counts.errors += errors;
  counts.rejections += rejections;
}

/** Returns the beginning of a text without what JSON of PostgreSQL rejects: it may repeat the input of a request. */
const toStorable = (text: string): string => text.slice(0, MAX_TEXT).toWellFormed().replaceAll('\0', '');
