import { isoFromPostgres, toSnakeCase } from '../../../entities/columns.ts';
import { ID_PREFIXES } from '../../../schema/ids.ts';
import type { PageArgs } from '../../../schema/page.ts';
import type { Database, Databases } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { decodeListCursor, encodeListCursor, readAfter } from '../../database/read/list-cursor.ts';
import { runSlowStatement } from '../../database/read/slow-read.ts';
import { projects } from '../readers/project.reader.ts';
import { repeatInRegions, type TaskLog } from '../repeated-task.ts';
import { requireFound } from '../require-found.ts';

/*
 * Lists of what has changed, which a gate reads on from a cursor or a time (ATT-36). SQL: their order is that of commits, their rows are made of
 * several tables, and their cursors stay valid at the end of the list.
 */

/** Maximum rows of each table that one call lists. */
const MAX_LISTED = 1_000;

const LIST_CHANGES: Statement = { name: 'gate.list-changes', text: 'select list_changes($1::int)' };

/** Puts committed changes in the order of changes, up to a batch. Returns their number. */
export async function listChanges({ backgroundRunner }: Pick<Database, 'backgroundRunner'>): Promise<number> {
  const [row] = await backgroundRunner.run(LIST_CHANGES, [String(MAX_LISTED)]);
  return Number(row![0]);
}

/** Milliseconds until the next batch once all changes are listed. */
const INTERVAL_MS = 500;

/**
 * Lists changes in each region until it is stopped, so that the time of a change is near its commit although nobody reads. Readers do not
 * depend on it.
 */
export const startListingChanges = (databases: Databases, log: TaskLog): (() => Promise<void>) =>
  repeatInRegions('list changes', log, (region) => async () => {
    return (await listChanges(databases[region])) < MAX_LISTED ? INTERVAL_MS : 0;
  });

/** A list of a table with `ListsChanges`. SQL is over its row `t` and the joins. */
interface ChangeList {
  /** Of the list's statements, and of what its cursors are bound to. */
  name: string;
  from: string;
  /** Column that identifies a row. */
  id: string;
  /** Conditions of filters, with `?` for the value. Default: the column that is named like the filter has the value. */
  filters?: Record<string, string>;
  /** SQL of the properties of an item but `updatedAt`, as arguments of `json_build_object`. */
  properties: string;
}

/** Milliseconds by which the clock of a gate may be ahead: an event is listed at most so long before it has occurred. */
const EARLIEST_LISTING_MS = 3_600_000;

/** Changes per page. */
export const MAX_CHANGES = 100;

/** Position before every change. */
const START = { afterValue: '0001-01-01 00:00:00+00', afterId: '0', total: '' };

/** SQL of an instant as the API writes it. */
const instant = (column: string) => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The roster of a project: whoever ever had access is in it. It informs and decides nothing (ATT-35). */
export const ROSTER: ChangeList = {
  name: 'gate.roster',
  from: `site_access t join worker on worker.id = t.worker_id
    left join subcontractor on subcontractor.id = worker.subcontractor_id and subcontractor.archived_at is null`,
  id: 't.worker_id',
  properties: `'id', '${ID_PREFIXES.rosterEntry}_' || substr(t.worker_id, ${ID_PREFIXES.worker.length + 2}),
    'workerId', t.worker_id, 'fullName', worker.full_name,
    'subcontractor', case when subcontractor.id is not null
      then json_build_object('id', subcontractor.id, 'name', subcontractor.name, 'builderId', t.builder_id) end,
    'status', case when t.revoked_at is null then 'ACTIVE' else 'REVOKED' end,
    'inductionStatus', (select induction.status from induction where induction.worker_id = t.worker_id
      and induction.project_id = t.project_id order by induction.created_at desc, induction.id desc limit 1),
    'grantedAt', ${instant('t.granted_at')}, 'revokedAt', ${instant('t.revoked_at')}`,
};

const PAYLOAD = `'sourceEventId', t.source_event_id, 'sourceSignOnEventId', t.source_sign_on_event_id, 'workerId', t.worker_id,
  'type', t.type, 'occurredAt', ${instant('t.occurred_at')}, 'deviceId', t.device_id`;

/** The events that an integrator has sent for a project, and what became of them (ATT-37). */
export const OWN_EVENTS: ChangeList = {
  name: 'gate.events',
  from: 'sign_on_event t left join sign_on_visit visit on visit.id = t.visit_id',
  id: 't.id',
  filters: {
    startDate: 't.occurred_at >= ?::timestamptz',
    endDate: 't.occurred_at <= ?::timestamptz',
  },
  properties: `'id', t.id, ${PAYLOAD}, 'status', t.status, 'rejection', t.rejection, 'signOnId', t.visit_id,
    'receivedAt', ${instant('t.created_at')}, 'visit', case when visit.id is not null then json_build_object(
      'signedOnAt', ${instant('visit.signed_on_at')}, 'signedOffAt', ${instant('visit.signed_off_at')},
      'closedAt', ${instant('visit.closed_at')}) end`,
};

/** The events of an integrator that were rejected with 409 (ATT-38). */
export const OWN_CONFLICTS: ChangeList = {
  name: 'gate.conflicts',
  from: 'sign_on_conflict t',
  id: 't.id',
  filters: { status: `(t.resolved_at is null) = (? = 'OPEN')` },
  properties: `'code', t.code, 'event', json_build_object(${PAYLOAD}), 'firstReceivedAt', ${instant('t.created_at')},
    'lastReceivedAt', ${instant('t.updated_at')}, 'count', t.answers, 'resolvedAt', ${instant('t.resolved_at')},
    'resolution', t.resolution`,
};

/**
 * Returns a page in which all changes are in order that were committed before the call. A page costs the same at any position, unless further
 * filters leave few rows. Throws 404 unless the project is the builder's.
 *
 * @param owner the project, and the integrator if its own records are listed
 * @param filters values by name; null or undefined where a filter does not apply
 */
export async function readChanges<T>(
  { primary: database }: Database,
  list: ChangeList,
  owner: { builderId: string; projectId: string; integratorId?: string },
  filters: Record<string, string | null | undefined>,
  { cursor, limit, updatedSince }: Pick<PageArgs, 'cursor' | 'limit' | 'updatedSince'>,
): Promise<{ data: T[]; meta: { nextCursor: string; hasMore: boolean } }> {
  await listChanges(database);
  const scope = { list: list.name, filters: { ...owner, ...filters } };
  const position = decodeListCursor(scope, cursor ?? '') ?? START;
  const since = [Date.parse(updatedSince ?? ''), Date.parse(filters.startDate ?? '') - EARLIEST_LISTING_MS];
  const earliest = Math.max(...since.filter((at) => at > Date.parse(isoFromPostgres(position.afterValue))));
  // One condition on the order: with two, PostgreSQL would read the index from the earlier one.
  const begin = Number.isFinite(earliest) ? { ...START, afterValue: new Date(earliest).toISOString() } : position;
  const count = limit ?? MAX_CHANGES;
  const values: string[] = [];
  const bind = (value: string) => `$${values.push(value)}`;
  const conditions = Object.entries(scope.filters).flatMap(([name, value]) =>
    value == null ? [] : (list.filters?.[name] ?? `t.${toSnakeCase(name)} = ?`).replaceAll('?', bind(value)),
  );
  const text = `select t.listed_at, ${list.id},
    json_build_object(${list.properties}, 'updatedAt', ${instant('t.listed_at')}) from ${list.from}
    where ${conditions.join(' and ')} and (t.listed_at, ${list.id}) > (${bind(begin.afterValue)}, ${bind(begin.afterId)})
    order by t.listed_at, ${list.id} limit ${bind(String(count + 1))}`.replace(/\s+/g, ' ');
  const given = Object.keys(filters).filter((name) => filters[name] != null);
  const statement = { name: given.length > 0 ? `${list.name}(${given})` : list.name, text };
  const read =
    given.length > 0 ? runSlowStatement(database, statement, values) : database.runner.run(statement, values);
  const rows = await readAfter(cursor ? position : null, read);
  const { builderId, projectId } = owner;
  if (rows.length === 0) await requireFound(projects.findOne(database, projectId, { builderId }), 'Project');
  const page = rows.slice(0, count);
  const [afterValue, afterId] = page.at(-1) ?? [position.afterValue, position.afterId];
  const nextCursor = encodeListCursor(scope, { afterValue: afterValue!, afterId: afterId!, total: '' });
  return { data: page.map(([, , item]) => JSON.parse(item!)), meta: { nextCursor, hasMore: rows.length > count } };
}
