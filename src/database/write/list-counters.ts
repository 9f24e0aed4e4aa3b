import type { QueryResult } from '@mikro-orm/core';
// All entities, which fill the list as they load.
import '../../../entities/index.ts';
import { type CountedList, countedLists } from '../../../entities/list-total.entity.ts';
import type { Job } from '../../shared/jobs.ts';
import type { Database, Databases } from '../database.ts';
import { COMMON_SETTINGS, connectWithSettings } from '../pool/session-settings.ts';

const INTERVAL_MS = 60_000;

/**
 * Adds up the changes of each total (entities/list-total.entity.ts) that have gathered. A reader sees them all or their sum.
 * Instances that fold at once share the work: what one has taken is gone for the others.
 */
export async function compactCounters(database: Database): Promise<{ folded: number }> {
  const { affectedRows } = await database.fork().execute<QueryResult>(
    `with taken as (
       delete from list_total where id in (
         select unnest(ids) from (
           select array_agg(id) as ids from list_total group by list, builder_id, project_id, kind having count(*) > 1) many)
       returning list, builder_id, project_id, kind, added)
     insert into list_total (list, builder_id, project_id, kind, added)
     select list, builder_id, project_id, kind, sum(added) from taken
     group by list, builder_id, project_id, kind having sum(added) <> 0`,
    [],
    'run',
  );
  return { folded: affectedRows };
}

/** The list of a table whose totals are kept, if they are. */
export const findCountedList = (table: string): CountedList | undefined =>
  countedLists.find((list) => `"${list.table}"` === table || list.table === table);

/** Names of the triggers that keep the totals of a list. */
export const totalTriggerNames = ({ table }: CountedList): string[] =>
  ['insert', 'delete', 'update'].map((event) => `${table}_total_${event}`);

/**
 * SQL that counts changed rows where the session leaves triggers out, as bulk loads do.
 *
 * @param changes SQL of the columns `builder_id`, `project_id`, the list's kind, `archived_at` where the list has it, and `added`: 1
 *   for a row that is new, -1 for one that is gone
 */
export const toCounterInsertSql = ({ table, kind, active }: CountedList, changes: string): string =>
  `insert into list_total (list, builder_id, project_id, kind, added)
    select '${table}', builder_id, project_id, ${kind}, sum(added) from (${changes}) changed
    where ${active} and current_setting('session_replication_role') = 'replica'
    group by builder_id, project_id, ${kind} having sum(added) <> 0`;

/** Serialises rebuilds: two that correct the same difference would overcorrect it. */
const REBUILD_LOCK = `select pg_advisory_xact_lock(hashtext('builder-integration-api totals rebuild'))`;

/**
 * Makes the totals those of the rows, as after a restore that counted rows twice or not at all. Writers go on meanwhile: each
 * correction is of one snapshot, the rows less the totals. Returns the number of totals that were wrong.
 */
export async function rebuildTotals({ url }: Pick<Database, 'url'>): Promise<{ corrected: number }> {
  const client = await connectWithSettings(url, COMMON_SETTINGS);
  try {
    await client.query('begin');
    await client.query(`set local lock_timeout = 0; set local statement_timeout = 0; ${REBUILD_LOCK}`);
    let corrected = 0;
    for (const { table, kind, active } of countedLists) {
      const { rowCount } = await client.query(`insert into list_total (list, builder_id, project_id, kind, added)
        select '${table}', builder_id, project_id, kind, sum(added) from (
          select builder_id, project_id, ${kind} as kind, count(*) as added from ${table} where ${active} group by 1, 2, 3
          union all select builder_id, project_id, kind, -added from list_total where list = '${table}') counted
        group by builder_id, project_id, kind having sum(added) <> 0`);
      corrected += rowCount!;
    }
    await client.query('commit');
    return { corrected };
  } finally {
    await client.end();
  }
}

export const createCompactionJob = (databases: Databases): Job => ({
  name: 'fold totals',
  everyMs: INTERVAL_MS,
  run: (region) => compactCounters(databases[region]),
});
