import { ID_PREFIXES } from '../../../schema/ids.ts';
import type { Database } from '../../database/database.ts';
import { type Statement, statement } from '../../database/pool/pg-pipeline.ts';

/** Sites of which something changed, and the snapshot of the database up to which that is known. */
interface AttendanceChanges {
  sites: { projectId: string; builderId: string }[];
  snapshot: string;
}

/** Milliseconds by which clocks of instances may differ, plus the longest time from an event's receipt to its commit. */
const SKEW_MS = 30_000;

/** Sites that one read returns at most. */
export const MAX_SITES = 500;

/** Latest conflicts that are looked at: as many may be in open transactions. */
const OPEN_CONFLICTS = 200;

/** The transaction that wrote a row, with the epoch that `xmin` lacks. */
const toTransactionSql = (table: string) =>
  `(case when (current.top >> 32 << 32 | ${table}.xmin::text::bigint) < current.top then current.top >> 32 << 32 | ${table}.xmin::text::bigint
    else (current.top >> 32 << 32 | ${table}.xmin::text::bigint) - 4294967296 end)::text::xid8`;

/** Most rows are older than the snapshot's oldest transaction, which comparing ages finds at a fraction of the cost. */
const isNew = (table: string) => `age(${table}.xmin) <= current.oldest
  and not pg_visible_in_snapshot(${toTransactionSql(table)}, $2::pg_snapshot)`;

const SELECT_SNAPSHOT: Statement = { name: 'attendance.snapshot', text: 'select pg_current_snapshot()::text' };

/**
 * Rows that transactions have committed since a snapshot. Each change of attendance inserts a row: an event, a conflict, or the audit
 * entry of a manual change. Only the latest rows are looked at, by indexes, so that gates pay nothing for it.
 */
const SELECT_CHANGES = statement('attendance.changes')`
  with current as materialized (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as top,
    age(pg_snapshot_xmin($2::pg_snapshot)::xid) as oldest),
  changed as (
    select project_id, builder_id from sign_on_event, current where sign_on_event.id >= $1 and ${isNew('sign_on_event')}
    union all
    select project_id, builder_id from sign_on_conflict, current
      where sign_on_conflict.id > (select coalesce(max(id), 0) from sign_on_conflict) - ${OPEN_CONFLICTS} and ${isNew('sign_on_conflict')}
    union all
    select coalesce(visit.project_id, conflict.project_id, sign_off.project_id), audit_entry.builder_id from current, audit_entry
      left join sign_on_visit visit on visit.id = audit_entry.object_id
      left join sign_on_conflict conflict on audit_entry.object_type = 'conflict' and conflict.id::text = audit_entry.object_id
      left join sign_on_event sign_off on sign_off.id = audit_entry.object_id
      where audit_entry.at >= $3::timestamptz and audit_entry.object_type in ('visit', 'conflict', 'sign_off') and ${isNew('audit_entry')})
  select null, null, pg_current_snapshot()::text
  union all (select distinct project_id, builder_id, null from changed where project_id is not null limit ${MAX_SITES})`;

/**
 * Returns the sites whose attendance has changed since a snapshot. It looks at the rows of half a minute or more, beside the small reads of
 * requests.
 *
 * @param snapshot of an earlier read; null to begin.
 * @param since milliseconds: when that read was made.
 */
export async function readAttendanceChanges(
  database: Database,
  snapshot: string | null,
  since: number,
): Promise<AttendanceChanges> {
  if (snapshot === null) {
    const [row] = await database.runner.run(SELECT_SNAPSHOT, []);
    return { sites: [], snapshot: row![0]! };
  }
  const from = since - SKEW_MS;
  const firstId = `${ID_PREFIXES.signOnEvent}_a${Math.floor(from).toString(36).padStart(9, '0')}`;
  const values = [firstId, snapshot, new Date(from).toISOString()];
  const rows = await database.backgroundRunner.run(SELECT_CHANGES, values);
  const sites = rows.flatMap(([projectId, builderId]) => (projectId ? [{ projectId, builderId: builderId! }] : []));
  return { sites, snapshot: rows.find((row) => row[2] !== null)![2]! };
}
