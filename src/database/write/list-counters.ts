import type { EntityManager } from '@mikro-orm/postgresql';
import type pg from 'pg';
// Loads all entities, whose decorators fill `countedLists`.
import '../../../entities/index.ts';
import { type CountedList, countedLists, toTotalsSql } from '../../../entities/list-total.entity.ts';
import type { Job } from '../../shared/jobs.ts';
import type { Database, Databases } from '../database.ts';
import { connectWithSettings, DIRECT_SETTINGS } from '../pool/session-settings.ts';
import { tryTransactionLock, waitForAdvisoryLock } from './advisory-lock.ts';

const COMPACTION_INTERVAL_MS = 60_000;

/** One instance compacts at a time; others skip their run. Two at once would wait for each other's totals, in different orders. */
const COMPACTION_LOCK = 'builder-integration-api counters';

/** Rows that one transaction compacts. */
const SHARE_ROWS = 10_000;

/** Columns that the totals are divided by. */
const KEY = 'list, builder_id, project_id, parent_id, kind';

const INSERT_TOTALS = `insert into list_total (${KEY}, added)`;

/** Numbers of rows that one statement has replaced, and that it has written in their place. */
interface CompactedShare {
  deleted: number;
  written: number;
}

/** Compacts the counters (entities/list-total.entity.ts), in as many transactions as their backlog needs. */
export async function compactCounters(database: Database, shareRows = SHARE_ROWS): Promise<{ compacted: number }> {
  let compacted = 0;
  for (;;) {
    const share = await database.transaction(async (em) =>
      (await tryTransactionLock(em, COMPACTION_LOCK)) ? compactShare(em, shareRows) : null,
    );
    compacted += share?.written ?? 0;
    if (!share || share.deleted < shareRows) return { compacted };
  }
}

/** Replaces the counter rows of totals that have several by one row with their sum, in one statement: a reader sees either. */
async function compactShare(em: EntityManager, maxRows: number): Promise<CompactedShare> {
  const [share] = await em.execute<[CompactedShare]>(
    `with deleted as (
       delete from list_total where id in (
         select id from (select id, ${KEY}, count(*) over (partition by ${KEY}) as rows from list_total) counted
         where rows > 1 order by ${KEY} limit ?)
       returning ${KEY}, added),
     written as (
       ${INSERT_TOTALS} select ${KEY}, sum(added) from deleted group by ${KEY} having sum(added) <> 0 returning 1)
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
 * @param changes see `toTotalsSql`
 */
export const toCounterInsertSql = (list: CountedList, changes: string): string =>
  `counted as (${INSERT_TOTALS} ${toTotalsSql(
    list,
    `select * from (${changes}) change where current_setting('session_replication_role') = 'replica'`,
  )})`;

/** Returns SQL that selects each wrong total of a list, with the difference of rows and total in `added`. */
const selectWrongTotals = (list: CountedList) =>
  `select ${KEY}, sum(added) as added from (
     ${toTotalsSql(list, `select *, 1 as added from ${list.table}`)}
     union all select ${KEY}, -added from list_total where list = '${list.table}') counted
   group by ${KEY} having sum(added) <> 0`;

/** Returns the number of wrong totals by list, without correcting them. */
export async function countWrongTotals(client: pg.ClientBase): Promise<Record<string, number>> {
  const wrong: Record<string, number> = {};
  for (const list of countedLists) {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from (${selectWrongTotals(list)}) wrong`,
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
      const { rowCount } = await client.query(`${INSERT_TOTALS} ${selectWrongTotals(list)}`);
      corrected += rowCount!;
    }
    await client.query('commit');
    return { corrected };
  } finally {
    await client.end();
  }
}

/** Returns the job that compacts the counters every minute. */
export const createCompactionJob = (databases: Databases): Job => ({
  name: 'compact counters',
  everyMs: COMPACTION_INTERVAL_MS,
  run: (region) => compactCounters(databases[region]),
});
