import type { EntityManager } from '@mikro-orm/postgresql';
import type { LoggedRequest, UsageDay } from '../../../entities/usage.entity.ts';
import type { Databases } from '../../database/database.ts';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import { type Clock, DAY_MS } from '../../shared/clock.ts';
import { mapRegions, REGIONS, type RegionId } from '../../shared/regions.ts';

/** Milliseconds between two writes. What a killed process has not written since its last one is lost. REQ-7. */
const WRITE_INTERVAL_MS = 1_000;

/** Failed requests of an integrator that are kept of a day. REQ-2. */
export const MAX_LOGGED = 10_000;

/** Operations of a client that a process counts apart on a day: clients choose the names of GraphQL operations. REQ-6. */
const MAX_OPERATIONS = 200;
const OTHER_OPERATIONS = '*';

/** Characters of failed requests, as JSON, that a region's buffer holds until they are written: of an integrator, and in all. */
const MAX_INTEGRATOR_BUFFER = 1_000_000;
const MAX_BUFFER = 16_000_000;

/** Whose request it is, and for which operation. */
export interface CountedRequest {
  integratorId: string;
  clientId: string;
  operation: string;
}

/** What the log keeps of a request that failed. */
export type FailedRequest = Omit<LoggedRequest, 'id' | 'at' | 'integratorId' | 'clientId'>;

/** Why a request failed. */
export type FailureReason = Pick<LoggedRequest, 'status' | 'code' | 'message' | 'errors'>;

/** What a region has to write. */
class Pending {
  readonly counts = new Map<string, UsageDay>();
  /** Failed requests, as JSON, with their integrators. */
  readonly rows: [integratorId: string, row: string][] = [];
  /** Characters of the rows, by integrator and in all. */
  readonly charactersOf = new Map<string, number>();
  characters = 0;
}

/** The lock is held until the transaction ends, so that processes neither deadlock nor pass the limit of a day together. */
const LOCK = 'request log';

const ADD_COUNTS = `insert into usage_day as day (integrator_id, date, client_id, operation, requests, rejections, failures)
  select "integratorId", date, "clientId", operation, requests, rejections, failures from jsonb_to_recordset(?::jsonb) as counted
    ("integratorId" text, date date, "clientId" text, operation text, requests int, rejections int, failures int)
  where exists (select from oauth_client where id = "clientId")
  on conflict (integrator_id, date, client_id, operation) do update set requests = day.requests + excluded.requests,
    rejections = day.rejections + excluded.rejections, failures = day.failures + excluded.failures`;

const ADD_FAILED = `with given as (
    select *, date_trunc('day', at) as day, row_number() over (partition by "integratorId", date_trunc('day', at) order by at) as position
    from jsonb_to_recordset(?::jsonb) as request ("integratorId" text, "requestId" text, at timestamptz, "clientId" text, method text,
      path text, "graphqlOperation" text, tool text, status int, code text, message text, errors jsonb, "builderId" text, "durationMs" int)
    where exists (select from oauth_client where id = "clientId")
  ), room as (
    select "integratorId", day, ${MAX_LOGGED} - (select count(*) from request_log
      where integrator_id = "integratorId" and at >= day and at < day + interval '1 day') as free
    from (select distinct "integratorId", day from given) days
  )
  insert into request_log (integrator_id, request_id, at, client_id, method, path, graphql_operation, tool, status, code, message, errors,
    builder_id, duration_ms)
  select "integratorId", "requestId", at, "clientId", method, path, "graphqlOperation", tool, status, code, message, errors,
    "builderId", "durationMs"
  from given join room using ("integratorId", day) where position <= free order by at returning id`;

/**
 * Counts the requests of integrators in memory, and writes the counts and the failed requests every second, so that a request costs no
 * statement.
 */
export class RequestLog {
  readonly #databases: Databases;
  readonly #clock: Clock;
  readonly #report: (error: unknown) => void;
  readonly #pending = mapRegions(() => new Pending());
  readonly #timer: NodeJS.Timeout;
  /** Operations that were counted on the current day, by client. */
  readonly #operations = new Map<string, Set<string>>();
  #day = 0;
  #date = '';
  #writing: Promise<void> = Promise.resolve();
  /** Failed requests that are counted and not kept: the day or the buffer was full. */
  dropped = 0;

  constructor(databases: Databases, clock: Clock, report: (error: unknown) => void) {
    this.#databases = databases;
    this.#clock = clock;
    this.#report = report;
    this.#timer = setInterval(() => this.write(), WRITE_INTERVAL_MS).unref();
  }

  /** Counts a request. @param failed What to keep of it; null for a request that succeeded. */
  add(region: RegionId, request: CountedRequest, failed: FailedRequest | null): void {
    const now = this.#clock.now();
    if (Math.floor(now / DAY_MS) !== this.#day) this.#beginDay(now);
    const pending = this.#pending[region];
    const { integratorId, clientId } = request;
    const operations = this.#operations.get(clientId) ?? new Set();
    this.#operations.set(clientId, operations);
    if (operations.size < MAX_OPERATIONS) operations.add(request.operation);
    const operation = operations.has(request.operation) ? request.operation : OTHER_OPERATIONS;
    const counted = { integratorId, date: this.#date, clientId, operation };
    const key = `${this.#date} ${clientId} ${operation}`;
    const counts = pending.counts.get(key) ?? { ...counted, requests: 0, rejections: 0, failures: 0 };
    pending.counts.set(key, counts);
    counts.requests++;
    if (failed) {
      counts[failed.status >= 500 ? 'failures' : 'rejections']++;
      const row = JSON.stringify({ ...failed, integratorId, clientId, at: new Date(now).toISOString() });
      this.#buffer(pending, [[integratorId, row]]);
    }
  }

  /** Writes what was added since the last write. What cannot be written is kept for the next time. */
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

  #beginDay(now: number): void {
    this.#day = Math.floor(now / DAY_MS);
    this.#date = new Date(now).toISOString().slice(0, 10);
    this.#operations.clear();
  }

  async #writeRegion(region: RegionId): Promise<void> {
    const written = this.#pending[region];
    if (written.counts.size === 0) return;
    this.#pending[region] = new Pending();
    const rows = written.rows.map(([, row]) => row);
    try {
      const kept = await this.#databases[region].transaction((em) => insert(em, [...written.counts.values()], rows));
      this.dropped += rows.length - kept;
    } catch (error) {
      this.#restore(written, this.#pending[region]);
      throw error;
    }
  }

  /** Adds what was not written to what has been added since. */
  #restore(written: Pending, pending: Pending): void {
    for (const [key, counts] of written.counts) {
      const since = pending.counts.get(key);
      if (!since) pending.counts.set(key, counts);
      else for (const name of ['requests', 'rejections', 'failures'] as const) since[name] += counts[name];
    }
    this.#buffer(pending, written.rows);
  }

  #buffer(pending: Pending, rows: Pending['rows']): void {
    for (const [integratorId, row] of rows) {
      const own = (pending.charactersOf.get(integratorId) ?? 0) + row.length;
      if (own > MAX_INTEGRATOR_BUFFER || pending.characters + row.length > MAX_BUFFER) {
        this.dropped++;
        continue;
      }
      pending.charactersOf.set(integratorId, own);
      pending.characters += row.length;
      pending.rows.push([integratorId, row]);
    }
  }
}

/** Returns the number of failed requests that are kept. */
async function insert(em: EntityManager, counts: readonly UsageDay[], rows: readonly string[]): Promise<number> {
  await acquireRecordLock(em, LOCK);
  await em.execute(ADD_COUNTS, [JSON.stringify(counts)]);
  return rows.length === 0 ? 0 : (await em.execute(ADD_FAILED, [`[${rows.join()}]`])).length;
}
