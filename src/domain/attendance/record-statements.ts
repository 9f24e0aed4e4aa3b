import { statement } from '../../database/pool/pg-pipeline.ts';

/*
 * Statements that record events. At READ COMMITTED each statement has its own snapshot, so the lock is a statement of its own: what
 * the next statement reads stays true until the commit, except for a visit that is closed or archived manually.
 *
 * Parameters of each statement that inserts one event: 1 event id, 2 now, 3 integrator, 4 builder, 5 project, 6 worker,
 * 7 `sourceEventId`, 8 `sourceSignOnEventId`, 9 type, 10 `occurredAt`, 11 device, 12 visit id.
 */

/** Locks the ids of events and of their sign-ons, in a fixed order: two events that name each other must not deadlock. */
export const LOCK_EVENTS = statement('attendance.lock')`select pg_advisory_xact_lock(id)
  from (select distinct hashtextextended(key, 0) as id from unnest($1::text[]) key order by id) ids`;

const EVENT = `sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id, source_event_id,
  source_sign_on_event_id, type, occurred_at, device_id, status, visit_id)`;
const VALUES = `$1, $2::timestamptz, $2::timestamptz, $3, $4, $5, $6, $7, $8, $9, $10::timestamptz, $11`;

const VISIT = `sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at, signed_off_at, anomaly)`;
/** Not in the form of the partial indexes: by those, a plan that was made on an empty table reads all open visits. */
const OPEN = 'coalesce(v.signed_off_at, v.closed_at, v.archived_at) is null';

/** A sign-off before its sign-on is accepted and flagged (ATT-17). */
const anomaly = (off: string, on: string) => `case when ${off} < ${on} then 'SIGN_OFF_BEFORE_SIGN_ON' end`;

/**
 * Condition on rows `e` of the event to record: the project and the site access exist, the event is new, and no sign-off waits for it.
 * Each `limit` makes PostgreSQL look up one row for each event: it does not join the tables, whatever their size when it plans.
 */
const IS_NEW = `(select true from project where id = e.project_id and builder_id = e.builder_id limit 1)
  and (select true from site_access where worker_id = e.worker_id and project_id = e.project_id limit 1)
  and (select true from sign_on_event stored
    where stored.integrator_id = e.integrator_id and stored.builder_id = e.builder_id and stored.project_id = e.project_id
      and stored.source_event_id = e.source_event_id limit 1) is null
  and (select true from sign_on_event waiting
    where waiting.integrator_id = e.integrator_id and waiting.builder_id = e.builder_id and waiting.project_id = e.project_id
      and waiting.source_sign_on_event_id = e.source_event_id and waiting.status = 'PENDING_SIGN_ON' limit 1) is null`;

/**
 * Begins the visits of those sign-ons that are new, and returns the ids of their events. No two sign-ons have the same identity.
 * Parameters: 1 integrator, 2 builder; of the sign-ons, each an array: 3 event id, 4 now, 5 project, 6 worker, 7 `sourceEventId`,
 * 8 `occurredAt`, 9 device, 10 visit id.
 */
export const FAST_SIGN_ONS = statement('attendance.fast-sign-ons')`with accepted as (
    select * from (
      select $1::text as integrator_id, $2::text as builder_id, sign_on.* from unnest($3::text[], $4::timestamptz[], $5::text[], $6::text[],
        $7::text[], $8::timestamptz[], $9::text[], $10::text[])
        sign_on (id, now, project_id, worker_id, source_event_id, occurred_at, device_id, visit_id)) e
    where ${IS_NEW}),
  visit as (
    insert into ${VISIT}
    select visit_id, now, now, builder_id, project_id, worker_id, occurred_at, null, null from accepted)
  insert into ${EVENT}
    select id, now, now, integrator_id, builder_id, project_id, worker_id, source_event_id, null, 'SIGN_ON', occurred_at, device_id,
      'APPLIED', visit_id from accepted
    returning id`;

const PAYLOAD = `e.source_event_id as "sourceEventId", e.source_sign_on_event_id as "sourceSignOnEventId",
  e.worker_id as "workerId", e.type, e.occurred_at as "occurredAt", e.device_id as "deviceId"`;

const SAME_OWNER = 'e.integrator_id = $1 and e.builder_id = $2 and e.project_id = $3';

/** Reads all facts of a decision. Parameters: integrator, builder, project, worker, `sourceEventId`, `sourceSignOnEventId`. */
export const READ_FACTS = statement('attendance.read-facts')`select
  exists (select from project where id = $3 and builder_id = $2) as "projectExists",
  exists (select from site_access where worker_id = $4 and project_id = $3) as "siteAccess",
  (select to_json(e) from (
    select e.id, e.status, e.rejection, e.visit_id as "visitId", ${PAYLOAD}
    from sign_on_event e where ${SAME_OWNER} and e.source_event_id = $5) e) as stored,
  (select to_json(e) from (
    select ${PAYLOAD}, e.visit_id as "visitId",
      (select to_json(v) from (
        select v.signed_off_at as "signedOffAt", v.closed_at as "closedAt", v.archived_at as "archivedAt"
        from sign_on_visit v where v.id = e.visit_id) v) as visit
    from sign_on_event e where ${SAME_OWNER} and e.source_event_id = $6) e) as "signOn",
  (select json_agg(e) from (
    select e.id, ${PAYLOAD}
    from sign_on_event e
    where ${SAME_OWNER} and e.source_sign_on_event_id = $5 and e.status = 'PENDING_SIGN_ON'
    order by e.received) e) as waiting`;

/** Begins a visit. Parameter 13: when a waiting sign-off ended it, or null. */
export const SIGN_ON = statement('attendance.sign-on')`with visit as (
    insert into ${VISIT}
    values ($12, $2, $2, $4, $5, $6, $10, $13::timestamptz, ${anomaly('$13::timestamptz', '$10::timestamptz')}))
  insert into ${EVENT} values (${VALUES}, 'APPLIED', $12) returning id`;

/** Ends a visit; returns no row if it was closed or archived manually since it was read. */
export const SIGN_OFF = statement('attendance.sign-off')`with visit as (
    update sign_on_visit v set signed_off_at = $10::timestamptz, updated_at = $2::timestamptz,
      anomaly = ${anomaly('$10::timestamptz', 'v.signed_on_at')}
    where v.id = $12 and ${OPEN} returning v.id)
  insert into ${EVENT} select ${VALUES}, 'APPLIED', visit.id from visit returning id`;

/** Stores a sign-off until its sign-on arrives. */
export const INSERT_PENDING = statement('attendance.insert-pending')`
  insert into ${EVENT} values (${VALUES}, 'PENDING_SIGN_ON', null) returning id`;

/** Stores the outcomes of waiting sign-offs if the event that they waited for was inserted. */
export const SETTLE_WAITING = statement('attendance.settle-waiting')`
  update sign_on_event e set status = w.status, rejection = w.rejection, visit_id = w.visit_id, updated_at = $2
  from unnest($3::text[], $4::text[], $5::text[], $6::text[]) w (id, status, rejection, visit_id)
  where e.id = w.id and exists (select from sign_on_event where id = $1)`;

/** Stores an event that is rejected with a conflict, or counts its repetition. */
export const RECORD_CONFLICT = statement('attendance.record-conflict')`
  insert into sign_on_conflict (created_at, updated_at, integrator_id, builder_id, project_id, digest, code,
    worker_id, source_event_id, source_sign_on_event_id, type, occurred_at, device_id)
  values ($1, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
  on conflict (integrator_id, builder_id, project_id, digest) do update
    set code = excluded.code, answers = sign_on_conflict.answers + 1, updated_at = excluded.updated_at`;
