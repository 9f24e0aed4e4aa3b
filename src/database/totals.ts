import type { QueryResult } from '@mikro-orm/core';
import type { Job } from '../jobs.ts';
import type { Database, Databases } from './database.ts';

const EVERY_MS = 60_000;

/**
 * Adds up the changes of each total (entities/list-total.entity.ts) that have gathered. A reader sees them all or their sum.
 * Instances that fold at once share the work: what one has taken is gone for the others.
 */
export async function foldTotals(database: Database): Promise<{ folded: number }> {
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

export const folding = (databases: Databases): Job => ({
  name: 'fold totals',
  everyMs: EVERY_MS,
  run: (region) => foldTotals(databases[region]),
});
