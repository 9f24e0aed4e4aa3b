import type { AuditEntry } from '../../../../entities/audit-entry.entity.ts';
import { toSnakeCase } from '../../../../entities/columns.ts';
import type { WebhookDeliveryStatus, WebhookDisabledReason } from '../../../../schema/webhook.scalars.ts';
import type { Statement, TextRow } from '../../../database/pool/pg-pipeline.ts';
import type { StatementRunner } from '../../../database/pool/statement-runner.ts';
import type { FilterParameters, LoggedEvent } from '../../events/event-log.ts';

/** A row of `webhook_delivery` as it is to be stored. Instants are ISO 8601. */
export interface DeliveryRow {
  id: string;
  endpoint_id: string;
  event_id: string;
  type: string;
  builder_id: string;
  number: number;
  record_id: string;
  project_id: string | null;
  parent_id: string | null;
  occurred_at: string;
  status: WebhookDeliveryStatus;
  attempts: number;
  created_at: string;
  first_attempt_at: string | null;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
}

/** Progress of an endpoint as it is to be stored, together with the rows that it counts on. */
export interface ProgressRow {
  endpoint_id: string;
  generation: number;
  day: string;
  number: number;
  failures: number;
  failing_since: string | null;
  suspended_until: string | null;
  disabled_reason: WebhookDisabledReason | null;
  /** Entry of the audit log when the endpoint is to be disabled. */
  audit: AuditEntry | null;
}

/** Returns the event of a delivery. The day of its number is not stored. */
export const toLoggedEvent = (row: DeliveryRow): LoggedEvent => ({
  ...{ id: row.event_id, type: row.type, recordId: row.record_id, builderId: row.builder_id },
  ...{ projectId: row.project_id, parentId: row.parent_id, occurredAt: row.occurred_at },
  ...{ day: '', number: row.number },
});

const COLUMNS = `id text, endpoint_id text, event_id text, type text, builder_id text, number bigint, record_id text,
  project_id text, parent_id text, occurred_at timestamptz, status text, attempts int, created_at timestamptz,
  first_attempt_at timestamptz, last_attempt_at timestamptz, next_attempt_at timestamptz, response_status int, response_body text, error text`;

const NAMES = COLUMNS.replace(/(\w+) \w+/g, '$1').replace(/\s+/g, ' ');

const CHANGING = [
  'status',
  'attempts',
  'first_attempt_at',
  'last_attempt_at',
  'next_attempt_at',
  'response_status',
  'response_body',
  'error',
];

/**
 * Stores results and progress in one statement. It changes nothing of endpoints that are not leased to the process any more, that
 * were reset meanwhile, or whose position is none of the log any more since a restore or a promotion, and returns the others.
 */
const WRITE: Statement = {
  name: 'webhooks.results',
  text: `with progress as (
      select * from json_to_recordset($2::json) as (endpoint_id text, generation int, day text, number bigint, failures int,
        failing_since timestamptz, suspended_until timestamptz, disabled_reason text)),
    owned as materialized (
      select endpoint_id from webhook_progress stored where lease_owner = $1
        and (endpoint_id, generation) in (select endpoint_id, generation from progress
          where number <= (select last_number from event_log where epoch = $5))
        order by endpoint_id for update),
    stored as (
      insert into webhook_delivery (${NAMES})
        select ${NAMES} from json_to_recordset($3::json) as (${COLUMNS})
        where endpoint_id in (select endpoint_id from owned)
      on conflict (endpoint_id, event_id) do update set
        ${CHANGING.map((name) => `${name} = excluded.${name}`).join(', ')}),
    moved as (
      update webhook_progress set day = progress.day, number = progress.number, failures = progress.failures,
          failing_since = progress.failing_since, suspended_until = progress.suspended_until,
          replay_until = case when progress.number < webhook_progress.replay_until then webhook_progress.replay_until end
        from progress join owned using (endpoint_id) where webhook_progress.endpoint_id = progress.endpoint_id),
    disabled as (
      update webhook_endpoint set status = 'DISABLED', disabled_reason = progress.disabled_reason, updated_at = clock_timestamp()
        from progress join owned using (endpoint_id)
        where webhook_endpoint.id = progress.endpoint_id and progress.disabled_reason is not null and status = 'ACTIVE'
        returning webhook_endpoint.id),
    audited as (
      insert into audit_entry select entry.* from json_populate_recordset(null::audit_entry, $4::json) entry
        where object_id in (select id from disabled))
    select endpoint_id from owned`,
};

/** Results of several endpoints, which are stored together. */
export interface ResultBatch {
  /** Epoch of the log in which they were read. */
  epoch: string;
  progress: ProgressRow[];
  rows: DeliveryRow[];
}

/** Stores results, of each delivery the last one. Returns the ids of the endpoints that this process still has. */
export async function writeResults(
  runner: StatementRunner,
  owner: string,
  { epoch, progress, rows: deliveries }: ResultBatch,
): Promise<Set<string>> {
  const entries = progress.flatMap(({ audit }) => (audit ? [toRow(audit)] : []));
  // `ON CONFLICT DO UPDATE` rejects a batch with two rows of one key.
  const lastRows = new Map(deliveries.map((row) => [`${row.endpoint_id} ${row.event_id}`, row]));
  const lists = [progress, [...lastRows.values()], entries].map((each) => JSON.stringify(each));
  const rows = await runner.run(WRITE, [owner, ...lists, epoch]);
  return new Set(rows.map(([endpointId]) => endpointId!));
}

const toRow = (entry: AuditEntry) =>
  Object.fromEntries(Object.entries(entry).map(([property, value]) => [toSnakeCase(property), value]));

/** Stored deliveries of an endpoint that are loaded at a time. */
export const PENDING_PAGE = 1_000;

const SELECT_PENDING: Statement = {
  name: 'webhooks.pending',
  text: `select row.endpoint_id, to_json(row) from unnest($1::text[]) endpoint cross join lateral (
      select ${NAMES.replace(/\b(occurred_at|created_at|first_attempt_at|last_attempt_at|next_attempt_at)\b/g, (name) => `to_char(${name}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${name}`)}
      from webhook_delivery where endpoint_id = endpoint and status = 'PENDING' and number > $2::bigint
      order by number limit ${PENDING_PAGE}) row`,
};

/** Returns the first pending deliveries of each endpoint after a number of the log, in the order of the log. */
export async function readPending(
  runner: StatementRunner,
  endpointIds: string[],
  after = 0,
): Promise<Map<string, DeliveryRow[]>> {
  const found = new Map<string, DeliveryRow[]>(endpointIds.map((id) => [id, []]));
  const rows = await runner.run(SELECT_PENDING, [endpointIds, after]);
  for (const [endpointId, row] of rows) found.get(endpointId!)!.push(JSON.parse(row!) as DeliveryRow);
  return found;
}

/**
 * Drops the next pending deliveries of an endpoint after a number of the log that it may not see, and returns how many were examined
 * and the number of the last one. Of an endpoint that is not leased to the process any more, or that was reset, it examines none. The row
 * of the progress is locked first, as by `WRITE` and by changes of the endpoint.
 */
const DROP_PENDING: Statement = {
  name: 'webhooks.drop-pending',
  text: `with owned as materialized (
      select endpoint_id from webhook_progress where endpoint_id = $2 and lease_owner = $1 and generation = $3::int for update),
    page as materialized (
      select id, number, type, builder_id from webhook_delivery
        where endpoint_id = (select endpoint_id from owned) and status = 'PENDING' and number > $4::bigint
        order by number limit ${PENDING_PAGE}),
    dropped as (
      update webhook_delivery set status = 'DROPPED', next_attempt_at = null where id in (select id from page
        where ($5::jsonb -> ($6::jsonb ->> builder_id) @> to_jsonb(type)) is not true
          or number <= ($7::jsonb ->> builder_id)::bigint))
    select count(*), max(number) from page`,
};

/** Events that an endpoint may see, as parameters of a statement. */
export interface VisibleEvents extends FilterParameters {
  /** JSON of the numbers after which builders were connected, by builder id. */
  activeAfter: string;
}

/**
 * Drops the invisible ones of the next `PENDING_PAGE` pending deliveries after a number of the log. Returns the number after which the
 * next page begins; null when there is none.
 */
export async function dropPending(
  runner: StatementRunner,
  owner: string,
  { id, generation }: { id: string; generation: number },
  after: number,
  { types, groups, activeAfter }: VisibleEvents,
): Promise<number | null> {
  const values = [owner, id, String(generation), String(after), types, groups, activeAfter];
  const [[count, last]] = (await runner.run(DROP_PENDING, values)) as [TextRow];
  return Number(count) < PENDING_PAGE ? null : Number(last);
}
