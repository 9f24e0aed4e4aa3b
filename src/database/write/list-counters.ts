import type { QueryResult } from '@mikro-orm/core';
import type pg from 'pg';
// Loads all entities, whose decorators fill `countedLists`.
import '../../../entities/index.ts';
import { type CountedList, countedLists } from '../../../entities/list-total.entity.ts';
import type { Backlog } from '../../shared/backlog.ts';
import type { Job } from '../../shared/jobs.ts';
import type { Database, Databases } from '../database.ts';
import { connectWithSettings, DIRECT_SETTINGS } from '../pool/session-settings.ts';
import { waitForAdvisoryLock } from './advisory-lock.ts';
import { compactDays, INSERT_DAYS, selectWrongDays, toDayInsertSql, UPDATE_DAYS } from './day-totals.ts';

const COMPACTION_INTERVAL_MS = 60_000;

/**
 * Replaces the counter rows of each total (entities/list-total.entity.ts) by one row with their sum, in one statement: a reader sees
 * either. Concurrent calls share the work, because each deletes different rows. Then does the same with the totals by day.
 */
export async function compactCounters(database: Database): Promise<{ compacted: number }> {
  const { affectedRows } = await database.fork().execute<QueryResult>(
    `with deleted as (
       delete from list_total where id in (
         select unnest(ids) from (
           select array_agg(id) as ids from list_total group by list, builder_id, project_id, kind having count(*) > 1) many)
       returning list, builder_id, project_id, kind, added)
     insert into list_total (list, builder_id, project_id, kind, added)
     select list, builder_id, project_id, kind, sum(added) from deleted
     group by list, builder_id, project_id, kind having sum(added) <> 0`,
    [],
    'run',
  );
  return { compacted: affectedRows + (await compactDays(database)) };
}

/** Returns the counted list of a table; undefined when its rows are not counted. */
export const findCountedList = (table: string): CountedList | undefined =>
  countedLists.find((list) => `"${list.table}"` === table || list.table === table);

/** Returns the names of the triggers that count the rows of a list. */
export const totalTriggerNames = ({ table }: CountedList): string[] =>
  ['insert', 'delete', 'update'].map((event) => `${table}_total_${event}`);

/**
 * Returns SQL of a common table expression that counts changed rows in a session that does not fire triggers, as bulk loads do.
 *
 * @param changes SQL query with the columns of `countedColumns`, and `added`: 1 for an inserted row, -1 for a deleted one
 */
export const toCounterInsertSql = (list: CountedList, changes: string): string =>
  `counted_days as (${toDayInsertSql(
    list,
    `select * from (${changes}) changed where ${list.active} and current_setting('session_replication_role') = 'replica'`,
  )} returning *),
  counted as (insert into list_total (list, builder_id, project_id, kind, added)
    select list, builder_id, project_id, kind, sum(added) from counted_days
    group by list, builder_id, project_id, kind having sum(added) <> 0)`;

/** Returns the columns that decide in which totals a row is counted. */
export const countedColumns = ({ kind, project, parent, date, active }: CountedList): string[] => [
  ...['builder_id', kind, 'created_at'],
  ...[project, parent, date, active === 'true' ? null : 'archived_at'].filter((column) => column !== null),
];

/** Returns SQL that selects each wrong total of a list, with the difference of rows and total in `missing`. */
const selectWrongTotals = ({ table, kind, project, active }: CountedList) =>
  `select builder_id, project_id, kind, sum(added) as missing from (
     select builder_id, ${project ?? 'null::text'} as project_id, ${kind}::text as kind, count(*) as added from ${table} where ${active} group by 1, 2, 3
     union all select builder_id, project_id, kind, -added from list_total where list = '${table}') counted
   group by builder_id, project_id, kind having sum(added) <> 0`;

/** Returns the number of wrong totals by list, those by day included, without correcting them. */
export async function countWrongTotals(client: pg.ClientBase): Promise<Record<string, number>> {
  const wrong: Record<string, number> = {};
  for (const list of countedLists) {
    const { rows } = await client.query<{ count: number }>(
      `select ((select count(*) from (${selectWrongTotals(list)}) wrong)
         + (select count(*) from (${selectWrongDays(list)}) wrong_days))::int as count`,
    );
    wrong[list.table] = rows[0]!.count;
  }
  return wrong;
}

/** Serializes rebuilds: two that correct the same difference would overcorrect it. */
const REBUILD_LOCK = 'builder-integration-api totals rebuild';

/**
 * Corrects the totals, for instance after a restore that counted rows twice or not at all. Returns the number of totals that were
 * wrong. Writers are not blocked: each correction is the difference of rows and totals in one snapshot.
 */
export async function rebuildTotals({ url }: Pick<Database, 'url'>): Promise<{ corrected: number }> {
  const client = await connectWithSettings(url, DIRECT_SETTINGS);
  try {
    await client.query('begin');
    await client.query('set local lock_timeout = 0; set local statement_timeout = 0');
    await waitForAdvisoryLock(client, REBUILD_LOCK);
    let corrected = 0;
    for (const list of countedLists) {
      const { rowCount } = await client.query(`insert into list_total (list, builder_id, project_id, kind, added)
        select '${list.table}', builder_id, project_id, kind, missing from (${selectWrongTotals(list)}) wrong`);
      const days = await client.query(`${INSERT_DAYS} ${selectWrongDays(list)} ${UPDATE_DAYS}`);
      corrected += rowCount! + days.rowCount!;
    }
    await client.query('commit');
    return { corrected };
  } finally {
    await client.end();
  }
}

/** Rows of counters that the next compaction adds up. */
export const uncompactedCounters: Backlog = {
  name: 'list_counters',
  statement: {
    name: 'backlog.list_counters',
    text: `select count(*) - count(distinct (list, builder_id, project_id, kind)) + (select count(*) from list_day_change), null
      from list_total`,
  },
};

/** Returns the job that compacts the counters every minute. */
export const createCompactionJob = (databases: Databases): Job => ({
  name: 'compact counters',
  everyMs: COMPACTION_INTERVAL_MS,
  run: (region) => compactCounters(databases[region]),
});
