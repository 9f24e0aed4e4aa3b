import type { PreviousSecret } from '../../../../entities/webhook-endpoint.entity.ts';
import type { Database } from '../../../database/database.ts';
import { statement } from '../../../database/pool/pg-pipeline.ts';
import type { StatementRunner } from '../../../database/pool/statement-runner.ts';
import type { EventContent } from '../../events/event-types.ts';
import { FROM_ACTIVE_ENDPOINTS, isReadable, isVisible, TYPE_SCOPES } from './active-endpoints.ts';

/** Milliseconds for which a claimed delivery is left to its process. After a kill the record waits so long. */
const LEASE_MS = 30_000;

/** Deliveries that one statement claims, and that it looks for among all endpoints. Their requests begin in one turn of the event loop. */
const CLAIM_SIZE = 32;

/** Requests at a time to an endpoint of which nothing is known yet: see `Dispatcher`. */
export const FIRST_CONCURRENCY = 2;

/** Requests at a time of a process to the endpoints of one integrator, and to all from which each endpoint has one only (WHK-13). */
const PER_INTEGRATOR = 64;
const CROWDED = 512;

/** A delivery whose attempt is due, with its endpoint as it was stored when the delivery was claimed. */
export interface ClaimedDelivery {
  id: string;
  /** Says that the claim is still that of this process, when the result is stored. */
  leasedUntil: string;
  /** Attempts before this one, and when the first of them was, in ISO 8601. */
  attempts: number;
  firstAttemptAt: string | null;
  event: EventContent;
  /** Whether the endpoint is suspended, and this the one delivery that it is tried with. */
  isProbe: boolean;
  endpoint: { id: string; url: string; secret: string; previousSecrets: PreviousSecret[] };
}

/** What a process is sending to an endpoint, by its id. */
export type EndpointLoads = ReadonlyMap<string, { inFlight: number; concurrency: number }>;

/**
 * Claims deliveries that are due and the first of their records. Orders and offsets lead plans to the index that finds the row. Endpoints and
 * integrators take turns. What the endpoint's client may not see any more is dropped. An endpoint is locked before its deliveries, as a change
 * of it does, and one that is being changed is left for the next claim.
 */
const CLAIM = statement('webhooks.claim')`with probed as materialized (
    select endpoint_id from webhook_progress progress where suspended_until <= $1::timestamptz
      and exists (select from webhook_delivery where endpoint_id = progress.endpoint_id and status = 'PENDING' and next_attempt_at <= $1::timestamptz offset 0)
      for update skip locked),
  endpoint as materialized (
    select *, sum(in_flight) over (partition by integrator_id) as all_in_flight, ${CLAIM_SIZE} / count(*) over () as share from (
      select endpoint.id, endpoint.xmin as version, endpoint.integrator_id, endpoint.types, endpoint.builder_ids, client.scopes, progress.number,
        progress.suspended_until is not null as is_probe, coalesce(($4::jsonb -> endpoint.id ->> 'inFlight')::int, 0) as in_flight,
        case when progress.suspended_until is null
          then coalesce(($4::jsonb -> endpoint.id ->> 'concurrency')::int, ${FIRST_CONCURRENCY}) else 1 end as concurrency
      from ${FROM_ACTIVE_ENDPOINTS} and ${isReadable('$3', '$1')}
        and (progress.suspended_until is null or progress.endpoint_id in (select endpoint_id from probed))) active),
  due as materialized (
    select delivery.id, endpoint.id as endpoint_id, endpoint.version, endpoint.integrator_id, is_probe, in_flight, all_in_flight,
      ${isVisible({ event: 'delivery', clientScopes: 'endpoint.scopes', typeScopes: '$2' })} as is_visible,
      row_number() over (partition by endpoint.id order by next_attempt_at) as place
    from endpoint cross join lateral (
      select * from webhook_delivery waiting where waiting.endpoint_id = endpoint.id and waiting.status = 'PENDING'
        and waiting.next_attempt_at <= $1::timestamptz and waiting.number <= endpoint.number
        and (waiting.leased_until is null or waiting.leased_until < clock_timestamp())
        and waiting.id = (select id from webhook_delivery first where first.endpoint_id = waiting.endpoint_id
          and first.record_id = waiting.record_id and first.status = 'PENDING' order by first.number limit 1)
        order by waiting.next_attempt_at limit greatest(0, least(concurrency - in_flight, greatest(${FIRST_CONCURRENCY}, share)))) delivery
    where in_flight < concurrency),
  chosen as materialized (
    select * from (select *, row_number() over (partition by integrator_id order by place, random()) as turn from due) each
      where (place = 1 and in_flight = 0) or (turn + all_in_flight <= ${PER_INTEGRATOR} and not $5::boolean)
      order by turn, random() limit ${CLAIM_SIZE}),
  held as materialized (
    select id, xmin as version from webhook_endpoint where id in (select endpoint_id from chosen) for share skip locked),
  locked as materialized (
    select delivery.id, is_visible, is_probe from chosen join held on held.id = endpoint_id and held.version = chosen.version
        join webhook_delivery delivery on delivery.id = chosen.id
      where next_attempt_at <= $1::timestamptz and (leased_until is null or leased_until < clock_timestamp())
      for update of delivery skip locked),
  claimed as (
    update webhook_delivery delivery set status = case when is_visible then 'PENDING' else 'DROPPED' end,
        next_attempt_at = case when is_visible then next_attempt_at end,
        leased_until = case when is_visible then clock_timestamp() + interval '${LEASE_MS} ms' end
      from locked where delivery.id = locked.id returning delivery.*, is_probe),
  probing as (
    update webhook_progress set suspended_until = $1::timestamptz + interval '${LEASE_MS} ms'
      where endpoint_id in (select endpoint_id from claimed where is_probe and status = 'PENDING'))
  select case when claimed.status = 'PENDING' then json_build_object('id', claimed.id, 'leasedUntil', claimed.leased_until::text,
      'attempts', attempts, 'firstAttemptAt', first_attempt_at, 'isProbe', is_probe,
      'event', json_build_object('id', event_id, 'type', type, 'recordId', record_id, 'builderId', builder_id,
        'projectId', project_id, 'parentId', parent_id, 'occurredAt', to_char(occurred_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
      'endpoint', json_build_object('id', endpoint.id, 'url', url, 'secret', secret, 'previousSecrets', previous_secrets)) end as delivery
    from claimed join webhook_endpoint endpoint on endpoint.id = claimed.endpoint_id`;

/**
 * Claims the next deliveries that are due, and begins them before the transaction ends: a change of an endpoint waits for it, so that it applies
 * to every attempt that begins after its response (WHK-6). Returns whether more may be due.
 */
export function beginDeliveries(
  { writer }: Database,
  now: number,
  keyIds: readonly string[],
  loads: EndpointLoads,
  begin: (delivery: ClaimedDelivery) => void,
): Promise<boolean> {
  const inFlight = [...loads.values()].reduce((sum, load) => sum + load.inFlight, 0);
  const values = [
    new Date(now).toISOString(),
    TYPE_SCOPES,
    keyIds,
    JSON.stringify(Object.fromEntries(loads)),
    inFlight >= CROWDED,
  ];
  return writer.run(async (transaction) => {
    const rows = (await transaction.query([CLAIM, values])) as { delivery: ClaimedDelivery | null }[];
    for (const { delivery } of rows) if (delivery) begin(delivery);
    await transaction.commit();
    return rows.length > 0;
  });
}

const RELEASE = statement('webhooks.release')`
  update webhook_delivery set leased_until = null where id = any($1::text[]) and leased_until = any($2::timestamptz[])`;

/** Leaves deliveries to any process, without an attempt. */
export async function releaseDeliveries(
  runner: StatementRunner,
  deliveries: readonly ClaimedDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await runner.run(RELEASE, [deliveries.map(({ id }) => id), deliveries.map(({ leasedUntil }) => leasedUntil)]);
}
