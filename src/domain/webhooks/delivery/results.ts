import type { WebhookDisabledReason } from '../../../../schema/webhook.scalars.ts';
import { statement } from '../../../database/pool/pg-pipeline.ts';
import type { StatementRunner } from '../../../database/pool/statement-runner.ts';
import { type Attempt, isSuccess } from '../receiver-client.ts';
import type { ClaimedDelivery } from './claim.ts';
import { DISABLE_AFTER_MS, MAX_SUSPENSION_MS, MIN_SUSPENSION_MS, nextAttemptAt, SUSPEND_AFTER } from './schedule.ts';

/** An attempt that has ended. */
export interface DeliveryResult {
  delivery: ClaimedDelivery;
  attempt: Attempt;
  /** Milliseconds since the Unix epoch. */
  startedAt: number;
  endedAt: number;
}

/**
 * Stores the results of deliveries that are still leased to the process, and counts the failures of their endpoints. The later deliveries
 * of a record wait as long as the one that failed. What a replay reads again is not retried.
 */
const STORE = statement('webhooks.results')`with result as materialized (
    select *, (select delivery.number > progress.number from webhook_delivery delivery join webhook_progress progress using (endpoint_id)
        where delivery.id = result.id) as is_replayed
    from json_to_recordset($1::json) as result (place int, id text, leased_until timestamptz, succeeded boolean, is_probe boolean,
      status text, attempts int, first_attempt_at timestamptz, last_attempt_at timestamptz, next_attempt_at timestamptz,
      response_status int, response_body text, error text)),
  stored as (
    update webhook_delivery delivery set leased_until = null, attempts = result.attempts,
        status = case when is_replayed and not succeeded then 'FAILED' else result.status end,
        next_attempt_at = case when not is_replayed then result.next_attempt_at end,
        first_attempt_at = result.first_attempt_at, last_attempt_at = result.last_attempt_at,
        response_status = result.response_status, response_body = result.response_body, error = result.error
      from result where delivery.id = result.id and delivery.leased_until = result.leased_until
      returning delivery.endpoint_id, record_id, delivery.number, delivery.status, delivery.next_attempt_at, delivery.response_status,
        place, succeeded, is_probe),
  postponed as (
    update webhook_delivery delivery set next_attempt_at = later.retry_at from (
        select each.id, stored.next_attempt_at as retry_at from stored cross join lateral (
          select id from webhook_delivery later where later.endpoint_id = stored.endpoint_id and later.record_id = stored.record_id
            and later.status = 'PENDING' and later.number > stored.number and later.next_attempt_at < stored.next_attempt_at
            order by later.number for update skip locked) each
        where stored.status = 'PENDING') later
      where delivery.id = later.id),
  outcome as materialized (
    select endpoint_id, bool_or(succeeded) as succeeded, bool_or(is_probe) as is_probe, bool_or(response_status = 410) as is_gone,
      count(*) filter (where not succeeded and place > coalesce(last_success, -1)) as failed
    from (select *, max(place) filter (where succeeded) over (partition by endpoint_id) as last_success from stored) each
    group by endpoint_id),
  counted as (
    select endpoint_id, outcome.failed, is_gone, succeeded,
      case when succeeded then least(failed, ${SUSPEND_AFTER})
        when is_probe then failures + 1
        /* Requests that were under way when the suspension began do not lengthen it. */
        when suspended_until is null then greatest(failures, least(failures + failed, ${SUSPEND_AFTER}))
        else failures end as failures,
      not succeeded and not is_probe and suspended_until is not null as is_late, suspended_until,
      case when failed > 0 then coalesce(case when not succeeded then failing_since end, $2::timestamptz) end as failing_since
    from outcome join webhook_progress progress using (endpoint_id)),
  moved as (
    update webhook_progress progress set failures = counted.failures, failing_since = counted.failing_since,
        suspended_until = case when is_late then counted.suspended_until
          when counted.failures >= ${SUSPEND_AFTER} then $2::timestamptz + least(${MAX_SUSPENSION_MS},
            ${MIN_SUSPENSION_MS} * power(2, least(counted.failures - ${SUSPEND_AFTER}, 20))) * interval '1 ms' end
      from counted where progress.endpoint_id = counted.endpoint_id)
  select endpoint_id, case when is_gone then 'GONE' else 'NO_SUCCESS' end from counted
    where is_gone or failing_since <= $2::timestamptz - interval '${DISABLE_AFTER_MS} ms'`;

/** Stores results, in the order in which the attempts ended. Returns the endpoints that are to be disabled, with the reason. */
export async function storeResults(
  runner: StatementRunner,
  results: readonly DeliveryResult[],
  now: number,
): Promise<Map<string, WebhookDisabledReason>> {
  const rows = await runner.run(STORE, [JSON.stringify(results.map(toRow)), new Date(now).toISOString()]);
  return new Map(rows.map(([endpointId, reason]) => [endpointId!, reason as WebhookDisabledReason]));
}

function toRow({ delivery, attempt, startedAt, endedAt }: DeliveryResult, place: number) {
  const attempts = delivery.attempts + 1;
  const lastAttemptAt = new Date(startedAt).toISOString();
  const firstAttemptAt = delivery.firstAttemptAt ?? lastAttemptAt;
  const succeeded = isSuccess(attempt);
  const retryAt = succeeded ? null : nextAttemptAt({ attempts, firstAttemptAt: Date.parse(firstAttemptAt) }, endedAt);
  return {
    place,
    id: delivery.id,
    leased_until: delivery.leasedUntil,
    succeeded,
    is_probe: delivery.isProbe,
    status: succeeded ? 'DELIVERED' : retryAt === null ? 'FAILED' : 'PENDING',
    attempts,
    first_attempt_at: firstAttemptAt,
    last_attempt_at: lastAttemptAt,
    next_attempt_at: retryAt === null ? null : new Date(retryAt).toISOString(),
    response_status: attempt.status,
    response_body: attempt.body,
    error: attempt.error,
  };
}
