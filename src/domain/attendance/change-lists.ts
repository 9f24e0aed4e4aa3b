import { isoFromPostgres, toSnakeCase } from '../../../entities/columns.ts';
import type { ChangeList } from '../../../entities/gate-lists.type.ts';
import type { PageArgs } from '../../../schema/page.ts';
import type { Database, Databases } from '../../database/database.ts';
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

/** Puts committed changes in the order of changes, up to a batch. Returns their number. */
export async function listChanges({ backgroundRunner }: Pick<Database, 'backgroundRunner'>): Promise<number> {
  const statement = { name: 'gate.list-changes', text: 'select list_changes($1::int)' };
  const [row] = await backgroundRunner.run(statement, [String(MAX_LISTED)]);
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

/** Milliseconds by which the clock of a gate may be ahead: an event is listed at most so long before it has occurred. */
const EARLIEST_LISTING_MS = 3_600_000;

/** Changes per page. */
export const MAX_CHANGES = 100;

/** Position before every change. */
const START = { afterValue: '0001-01-01 00:00:00+00', afterId: '0', total: '' };

/**
 * Returns a page in which all changes are in order that were committed before the call. A page costs the same at any position, unless further
 * filters leave few rows. Throws 404 unless the project is the builder's.
 *
 * @param owner the project, and the integrator if its own records are listed
 * @param filters values by name; null or undefined where a filter does not apply
 */
export async function readChanges<T = Record<string, unknown>>(
  { primary: database }: Database,
  { name: list, from, id = 't.id', filters: conditionsOf = {}, item }: ChangeList,
  owner: { builderId: string; projectId: string; integratorId?: string },
  filters: Record<string, string | null | undefined>,
  { cursor, limit, updatedSince }: Pick<PageArgs, 'cursor' | 'limit' | 'updatedSince'>,
): Promise<{ data: T[]; meta: { nextCursor: string; hasMore: boolean } }> {
  await listChanges(database);
  const scope = { list, filters: { ...owner, ...filters } };
  const position = decodeListCursor(scope, cursor ?? '') ?? START;
  const since = [Date.parse(updatedSince ?? ''), Date.parse(filters.startDate ?? '') - EARLIEST_LISTING_MS];
  const earliest = Math.max(...since.filter((at) => at > Date.parse(isoFromPostgres(position.afterValue))));
  // One condition on the order: with two, PostgreSQL would read the index from the earlier one.
  const begin = Number.isFinite(earliest) ? { ...START, afterValue: new Date(earliest).toISOString() } : position;
  const count = limit ?? MAX_CHANGES;
  const values: string[] = [];
  const bind = (value: string) => `$${values.push(value)}`;
  const conditions = Object.entries(scope.filters).flatMap(([name, value]) =>
    value == null ? [] : (conditionsOf[name] ?? `t.${toSnakeCase(name)} = ?`).replaceAll('?', bind(value)),
  );
  const text = `select t.listed_at, ${id}, ${item.sql} from ${from}
    where ${conditions.join(' and ')} and (t.listed_at, ${id}) > (${bind(begin.afterValue)}, ${bind(begin.afterId)})
    order by t.listed_at, ${id} limit ${bind(String(count + 1))}`.replace(/\s+/g, ' ');
  const given = Object.keys(filters).filter((name) => filters[name] != null);
  const statement = { name: given.length > 0 ? `${list}(${given})` : list, text };
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
