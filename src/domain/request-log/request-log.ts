import type { Databases } from '../../database/database.ts';
import type { Clock } from '../../shared/clock.ts';
import { mapRegions, REGIONS, type RegionId } from '../../shared/regions.ts';

/** Milliseconds between two writes. The counts of a killed process since its last write are lost. CON-10. */
const WRITE_INTERVAL_MS = 5_000;

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

/** Requests of an integrator on a day, in UTC: a row of the table. */
interface DayCounts {
  integrator_id: string;
  date: string;
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
  /** By day and integrator. */
  readonly #counts = mapRegions(() => new Map<string, DayCounts>());
  /** By integrator. */
  readonly #rejections = mapRegions(() => new Map<string, BufferedRejection[]>());
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
    const at = new Date(this.#clock.now()).toISOString();
    const counts = { requests: 1, errors: isError ? 1 : 0, rejections: rejection ? 1 : 0 };
    this.#count(region, { integrator_id: integratorId, date: at.slice(0, 10), ...counts });
    if (!rejection) return;
    const operation = toStorable(rejection.operation);
    const reason = toStorable(rejection.reason);
    this.#buffer(region, integratorId, [{ ...rejection, at, integratorId, operation, reason }]);
  }

  #count(region: RegionId, { integrator_id, date, requests, errors, rejections }: DayCounts): void {
    const key = `${date} ${integrator_id}`;
    const counts = this.#counts[region].get(key) ?? { integrator_id, date, requests: 0, errors: 0, rejections: 0 };
    counts.requests += requests;
    counts.errors += errors;
    counts.rejections += rejections;
    this.#counts[region].set(key, counts);
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
    const counts = [...this.#counts[region].values()];
    const rejections = [...this.#rejections[region]];
    if (counts.length === 0 && rejections.length === 0) return;
    this.#counts[region].clear();
    this.#rejections[region].clear();
    const work = this.#databases[region].transaction(async (em) => {
      await em.execute(ADD_COUNTS, [JSON.stringify(counts)]);
      if (rejections.length === 0) return;
      await em.execute(ADD_REJECTIONS, [JSON.stringify(rejections.flatMap(([, entries]) => entries))]);
      await em.execute(DROP_OLD, [`{${rejections.map(([integratorId]) => integratorId).join()}}`]);
    });
    await work.catch((error) => {
      for (const each of counts) this.#count(region, each);
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

/** Returns the beginning of a text without what JSON of PostgreSQL rejects: it may repeat the input of a request. */
const toStorable = (text: string): string => text.slice(0, MAX_TEXT).toWellFormed().replaceAll('\0', '');
