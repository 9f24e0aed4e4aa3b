import { newId } from '../../../../schema/ids.ts';
import { statement } from '../../../database/pool/pg-pipeline.ts';
import type { StatementRunner } from '../../../database/pool/statement-runner.ts';
import { FROM_ACTIVE_ENDPOINTS, isVisible, TYPE_SCOPES } from './active-endpoints.ts';

/** Endpoints, and events of each, that one statement reads. */
const ENDPOINTS = 100;
const EVENTS = 200;

/** Deliveries that an endpoint may have due. With more, its events stay in the log, so that the search for those to attempt is short. */
const MAX_DUE = 1_000;

/** Unfinished deliveries that an endpoint may have, whenever they are due (WHK-13). */
const MAX_UNFINISHED = 20_000;

/** Length of an id without its random part, which is the same for the deliveries of one statement. */
const ID_PREFIX = 14;

const hasMore = (condition: string, count: number) =>
  `exists (select from webhook_delivery where endpoint_id = progress.endpoint_id and status = 'PENDING' ${condition} offset ${count - 1})`;

/**
 * Reads events after the position of each endpoint, adds a delivery for those that it selects and may see, and moves the position. All of it
 * is one snapshot of the log, the endpoints and the connections. Other processes skip an endpoint meanwhile. A replay waits for the
 * requests behind its position, and then delivers their events again too. The ids sort as the events do (WHK-12).
 */
const QUEUE = statement('webhooks.queue-events')`with behind as materialized (
    select progress.endpoint_id, progress.day, progress.number, client.scopes from ${FROM_ACTIVE_ENDPOINTS}
      and progress.number < (select last_number from event_log)
      and (progress.suspended_until is null or progress.suspended_until <= $1::timestamptz)
      and (progress.replay_until is null
        or not ${hasMore('and number > progress.number and leased_until > clock_timestamp()', 1)})
      and not ${hasMore('and next_attempt_at <= $1::timestamptz order by next_attempt_at', MAX_DUE)} and not ${hasMore('', MAX_UNFINISHED)}
    order by random() limit ${ENDPOINTS} for update of progress skip locked),
  page as materialized (
    select behind.endpoint_id, behind.scopes, event.* from behind cross join lateral (
      select * from event where event.day >= behind.day::date and (event.day, event.number) > (behind.day::date, behind.number)
        order by event.day, event.number limit ${EVENTS}) event),
  added as (
    insert into webhook_delivery as stored (id, endpoint_id, event_id, type, builder_id, number, record_id, project_id, parent_id,
        occurred_at, status, attempts, created_at, next_attempt_at)
      select $2 || lpad(to_hex(row_number() over (order by page.number)), 5, '0') || left(md5(gen_random_uuid()::text), 11),
        page.endpoint_id, page.id, page.type, page.builder_id, page.number, page.record_id, page.project_id, page.parent_id,
        page.occurred_at, 'PENDING', 0, $1::timestamptz, greatest($1::timestamptz, (
          select next_attempt_at from webhook_delivery earlier where earlier.endpoint_id = page.endpoint_id
            and earlier.record_id = page.record_id and earlier.status = 'PENDING' order by earlier.number limit 1))
      from page join webhook_endpoint endpoint on endpoint.id = page.endpoint_id where ${isVisible({ event: 'page', clientScopes: 'page.scopes', typeScopes: '$3' })}
      on conflict (endpoint_id, event_id) do update set status = 'PENDING', leased_until = null, attempts = 0, first_attempt_at = null,
        last_attempt_at = null, next_attempt_at = excluded.next_attempt_at, response_status = null, response_body = null, error = null),
  moved as (
    update webhook_progress progress set day = to_char(last.day, 'YYYY-MM-DD'), number = last.number
      from (select endpoint_id, max(day) as day, max(number) as number from page group by endpoint_id) last
      where progress.endpoint_id = last.endpoint_id returning 1)
  select count(*) from moved`;

/** Queues the next events for endpoints. Returns whether there were any, so that more may wait. */
export async function queueEvents(runner: StatementRunner, now: number): Promise<boolean> {
  const [row] = await runner.run(QUEUE, [
    new Date(now).toISOString(),
    newId('webhookDelivery', now).slice(0, ID_PREFIX),
    TYPE_SCOPES,
  ]);
  return row![0] !== '0';
}
