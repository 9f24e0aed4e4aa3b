import type { EntityManager } from '@mikro-orm/postgresql';
import type pg from 'pg';
// Loads all entities, whose decorators fill `countedLists`.
import '../../../entities/index.ts';
import { type CountedList, countedLists } from '../../../entities/list-total.entity.ts';
import type { Backlog } from '../../shared/backlog.ts';
import type { Job } from '../../shared/jobs.ts';
import type { Database, Databases } from '../database.ts';
import { connectWithSettings, DIRECT_SETTINGS } from '../pool/session-settings.ts';
import { tryTransactionLock, waitForAdvisoryLock } from './advisory-lock.ts';
import {
  type CompactedShare,
  compactDays,
  INSERT_DAYS,
  INSERT_MONTHS,
  selectWrongDays,
  selectWrongMonths,
  toDayInsertSql,
  UPDATE_DAYS,
  UPDATE_MONTHS,
} from './day-totals.ts';

const COMPACTION_INTERVAL_MS = 60_000;

/** One instance compacts at a time; others skip their run. Two at once would wait for each other's totals, in different orders. */
const COMPACTION_LOCK = 'builder-integration-api counters';

/** Rows that one transaction compacts. 10,000 changes by day take 0.3 s, of the six that a statement may take. */
const SHARE_ROWS = 10_000;

/** Compacts the counters (entities/list-total.entity.ts) and the totals by day, in as many transactions as their backlog needs. */
export async function compactCounters(database: Database, shareRows = SHARE_ROWS): Promise<{ compacted: number }> {
  let compacted = 0;
  for (const compact of [compactTotals, compactDays]) {
    for (let isLast = false; !isLast; ) {
      const share = await database.transaction(async (em) =>
        (await tryTransactionLock(em, COMPACTION_LOCK)) ? compact(em, shareRows) : null,
      );
      if (!share) return { compacted };
      compacted += share.written;
      isLast = share.deleted < shareRows;
    }
  }
  return { compacted };
}

/** Replaces the counter rows of totals that have several by one row with their sum, in one statement: a reader sees either. */
async function compactTotals(em: EntityManager, maxRows: number): Promise<CompactedShare> {
  const key = 'builder_id, list, project_id, kind';
  const [share] = await em.execute<[CompactedShare]>(
    `with deleted as (
       delete from list_total where id in (
         select id from (select id, ${key}, count(*) over (partition by ${key}) as rows from list_total) counted
         where rows > 1 order by ${key} limit ?)
       returning ${key}, added),
     written as (
       insert into list_total (${key}, added)
       select ${key}, sum(added) from deleted group by ${key} having sum(added) <> 0 returning 1)
     select (select count(*) from deleted)::int as deleted, (select count(*) from written)::int as written`,
    [maxRows],
  );
  return share;
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
         + (select count(*) from (${selectWrongDays(list)}) wrong_days)
         + (select count(*) from (${selectWrongMonths(list)}) wrong_months))::int as count`,
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
      const months = await client.query(`${INSERT_MONTHS} ${selectWrongMonths(list)} ${UPDATE_MONTHS}`);
      corrected += rowCount! + days.rowCount! + months.rowCount!;
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
