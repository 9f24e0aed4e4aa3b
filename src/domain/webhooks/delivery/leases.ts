import type { PreviousSecret } from '../../../../entities/webhook-endpoint.entity.ts';
import type { Statement, TextRow } from '../../../database/pool/pg-pipeline.ts';
import type { StatementRunner } from '../../../database/pool/statement-runner.ts';
import type { LogPosition } from '../../events/event-log.ts';

/** Milliseconds for which a process alone delivers to an endpoint, unless it renews its lease. A killed process delays its endpoints so long. */
const LEASE_MS = 10_000;

/** Milliseconds before the end of a lease at which its requests are aborted. */
const MARGIN_MS = 500;

/** Milliseconds after which a process that was not seen gets no share of the endpoints. */
const DISPATCHER_MS = 5_000;

/** An endpoint as the process that delivers to it needs it. */
export interface LeasedEndpoint {
  id: string;
  clientId: string;
  integratorId: string;
  url: string;
  types: string[] | null;
  builderIds: string[] | null;
  secret: string;
  previousSecrets: PreviousSecret[];
  position: LogPosition;
  replayUntil: number | null;
  generation: number;
  failures: number;
  /** Milliseconds since the Unix epoch. */
  failingSince: number | null;
  suspendedUntil: number | null;
}

const DELIVERS = `endpoint.status = 'ACTIVE' and endpoint.deleted_at is null and client.disabled_at is null`;

const JOINS = `from webhook_endpoint endpoint join oauth_client client on client.id = endpoint.client_id
  join webhook_progress progress on progress.endpoint_id = endpoint.id`;

/** Registers this process. Returns the numbers of live processes and of active endpoints. */
const HEARTBEAT: Statement = {
  name: 'webhooks.heartbeat',
  text: `with me as (insert into webhook_dispatcher (id, seen_at) values ($1, clock_timestamp())
      on conflict (id) do update set seen_at = excluded.seen_at),
    removed as (delete from webhook_dispatcher where seen_at < clock_timestamp() - interval '1 minute')
    select 1 + (select count(*) from webhook_dispatcher
        where id <> $1 and seen_at > clock_timestamp() - interval '${DISPATCHER_MS} ms'),
      (select count(*) ${JOINS} where ${DELIVERS})`,
};

const RENEW: Statement = {
  name: 'webhooks.renew',
  text: `update webhook_progress set lease_until = clock_timestamp() + interval '${LEASE_MS} ms' where lease_owner = $1`,
};

/** Of another generation, because other processes may have delivered since this one had the lease before. */
const CLAIM: Statement = {
  name: 'webhooks.claim',
  text: `update webhook_progress set lease_owner = $1, generation = generation + 1, lease_until = clock_timestamp() + interval '${LEASE_MS} ms'
    where endpoint_id in (select endpoint_id ${JOINS} where ${DELIVERS}
      and (progress.lease_until is null or progress.lease_until < clock_timestamp())
      order by progress.lease_until nulls first limit $2::int for update of progress skip locked)`,
};

const RELEASE: Statement = {
  name: 'webhooks.release',
  text: `update webhook_progress set lease_owner = null, lease_until = null
    where lease_owner = $1 and endpoint_id = any($2::text[])`,
};

const UNREGISTER: Statement = {
  name: 'webhooks.unregister',
  text: `delete from webhook_dispatcher where id = $1`,
};

const SELECT = `select endpoint.id, endpoint.client_id, endpoint.integrator_id, endpoint.url, to_json(endpoint.types), to_json(endpoint.builder_ids),
      endpoint.secret, endpoint.previous_secrets, progress.day, progress.number, progress.replay_until,
      progress.generation, progress.failures, extract(epoch from progress.failing_since) * 1000,
      extract(epoch from progress.suspended_until) * 1000
    ${JOINS} where ${DELIVERS} and progress.lease_owner = $1`;

const SELECT_ALL: Statement = { name: 'webhooks.leased', text: SELECT };
const SELECT_SOME: Statement = {
  name: 'webhooks.leased-of-ids',
  text: `${SELECT} and progress.endpoint_id = any($2::text[])`,
};

/** The endpoints of a region that this process alone delivers to. Leases are counted by the clock of the database. */
export class Leases {
  readonly #runner: StatementRunner;
  readonly owner: string;
  /** Time of `performance.now()` until which the leases are certainly held. */
  #validUntil = 0;
  #expiry: NodeJS.Timeout | undefined;
  #expired = new AbortController();

  constructor(runner: StatementRunner, owner: string) {
    this.#runner = runner;
    this.owner = owner;
  }

  /** Whether this process may still deliver: no other has its endpoints. */
  get isValid(): boolean {
    return performance.now() < this.#validUntil;
  }

  /** Aborts when the leases end without being renewed: another process may then deliver. Read it for each request. */
  get signal(): AbortSignal {
    return this.#expired.signal;
  }

  /**
   * Renews the leases, and claims free endpoints up to this process's share. Returns the leased endpoints, the share, and the value for
   * `extend`, which is called when the deliveries to other endpoints are stopped.
   *
   * @param heldCount Number of the endpoints that this process holds already.
   */
  async renew(heldCount: number): Promise<{ endpoints: LeasedEndpoint[]; share: number; validUntil: number }> {
    const began = performance.now();
    const [counts] = await this.#runner.run(HEARTBEAT, [this.owner]);
    const [dispatchers, endpoints] = counts!.map(Number) as [number, number];
    const share = Math.ceil(endpoints / dispatchers);
    await this.#runner.run(RENEW, [this.owner]);
    if (heldCount < share) await this.#runner.run(CLAIM, [this.owner, String(share - heldCount)]);
    // Renewed after `began`, so they last longer. What a lost lease would have allowed is not written: see `writeResults`.
    return { endpoints: await this.load(), share, validUntil: began + LEASE_MS - MARGIN_MS };
  }

  /** Ends the requests that run under the leases, and what they allow. */
  expire(): void {
    clearTimeout(this.#expiry);
    this.#validUntil = 0;
    this.#expired.abort();
  }

  /** Allows deliveries until a time of `performance.now()`. */
  extend(validUntil: number): void {
    clearTimeout(this.#expiry);
    this.#validUntil = validUntil;
    if (this.#expired.signal.aborted) this.#expired = new AbortController();
    // A timer, because the renewal may hang with the database.
    this.#expiry = setTimeout(() => this.expire(), Math.max(0, validUntil - performance.now())).unref();
  }

  /** Returns the leased endpoints that are still delivered to. */
  async load(): Promise<LeasedEndpoint[]> {
    return (await this.#runner.run(SELECT_ALL, [this.owner])).map(toLeasedEndpoint);
  }

  /** Returns those of the ids. */
  async loadSome(ids: string[]): Promise<LeasedEndpoint[]> {
    return (await this.#runner.run(SELECT_SOME, [this.owner, ids])).map(toLeasedEndpoint);
  }

  async release(endpointIds: string[]): Promise<void> {
    if (endpointIds.length > 0) await this.#runner.run(RELEASE, [this.owner, endpointIds]);
  }

  /** Removes this process from those that share the endpoints. Call `release` first. */
  async unregister(): Promise<void> {
    clearTimeout(this.#expiry);
    await this.#runner.run(UNREGISTER, [this.owner]);
  }
}

function toLeasedEndpoint(row: TextRow): LeasedEndpoint {
  const [id, clientId, integratorId, url, types, builderIds, secret, previousSecrets, ...progress] = row;
  const [day, number, replayUntil, generation, failures, failingSince, suspendedUntil] = progress;
  const toNumber = (text: string | null | undefined) => (text == null ? null : Number(text));
  return {
    ...{ id: id!, clientId: clientId!, integratorId: integratorId!, url: url! },
    types: JSON.parse(types ?? 'null'),
    builderIds: JSON.parse(builderIds ?? 'null'),
    ...{ secret: secret!, previousSecrets: JSON.parse(previousSecrets!) },
    position: { day: day!, number: Number(number) },
    ...{ replayUntil: toNumber(replayUntil), generation: Number(generation), failures: Number(failures) },
    ...{ failingSince: toNumber(failingSince), suspendedUntil: toNumber(suspendedUntil) },
  };
}
