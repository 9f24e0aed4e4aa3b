import type { EntityManager } from '@mikro-orm/postgresql';
import { DAY_KEY, MONTH_KEY, toMonthSql } from '../../../entities/list-day.entity.ts';
import { type CountedList, toDaySql } from '../../../entities/list-total.entity.ts';

/** The two halves of a statement that adds rows to the totals by day. */
export const INSERT_DAYS = `insert into list_day_total as t (${DAY_KEY}, added)`;
export const UPDATE_DAYS = `on conflict (builder_id, list, project_id, parent_id, kind, dated_on, created_on)
  do update set added = t.added + excluded.added`;

/** The same for the totals by month, which triggers add up unless a restore has disabled them. */
export const INSERT_MONTHS = `insert into list_month_total as t (${MONTH_KEY}, added)`;
export const UPDATE_MONTHS = `on conflict (builder_id, list, project_id, parent_id, kind, created_in, dated_in)
  do update set added = t.added + excluded.added`;

/** Numbers of rows that one statement has replaced, and that it has written in their place. */
export interface CompactedShare {
  deleted: number;
  written: number;
}

/** Returns SQL that appends the changes of totals by day for rows with the column `added`. */
export const toDayInsertSql = (list: CountedList, rows: string): string =>
  `insert into list_day_change (${DAY_KEY}, added) ${sumByDay(list, rows)}`;

/** Adds the oldest changes to the totals by day in one statement, so that a reader sees either. */
export async function compactDays(em: EntityManager, maxRows: number): Promise<CompactedShare> {
  const [share] = await em.execute<[CompactedShare]>(
    `with changes as (
       delete from list_day_change where id in (select id from list_day_change order by id limit ?) returning *),
     written as (${INSERT_DAYS} ${rollUp('select * from changes')} ${UPDATE_DAYS} returning 1)
     select (select count(*) from changes)::int as deleted, (select count(*) from written)::int as written`,
    [maxRows],
  );
  await em.execute('delete from list_day_total where added = 0');
  await em.execute('delete from list_month_total where added = 0');
  return share;
}

/** Returns SQL that selects each wrong total by day of a list, with the difference of rows and total in `added`. */
export const selectWrongDays = (list: CountedList): string => {
  const changes = `select ${DAY_KEY}, -added as added from list_day_change where list = '${list.table}'`;
  const counted = sumByDay(list, `select *, 1 as added from ${list.table} where ${list.active}`);
  return `select ${DAY_KEY}, sum(added) as added from (
      ${rollUp(`${counted} union all ${changes}`)}
      union all select ${DAY_KEY}, -added from list_day_total where list = '${list.table}') compared
    group by ${DAY_KEY} having sum(added) <> 0`;
};

/** Returns SQL that selects each total by month of a list that is not the sum of its days, with the difference in `added`. */
export const selectWrongMonths = ({ table }: CountedList): string =>
  `select ${MONTH_KEY}, sum(added) as added from (
      select list, builder_id, project_id, parent_id, kind, ${toMonthSql('created_on')} as created_in,
        ${toMonthSql('dated_on')} as dated_in, added from list_day_total
      where list = '${table}'
      union all select ${MONTH_KEY}, -added from list_month_total where list = '${table}') compared
    group by ${MONTH_KEY} having sum(added) <> 0`;

const sumByDay = ({ table, kind, project, parent, date }: CountedList, rows: string): string =>
  `select '${table}' as list, builder_id, ${project ?? 'null::text'} as project_id, ${parent ?? 'null::text'} as parent_id,
     ${kind}::text as kind,
     ${toDaySql('created_at')} as created_on, ${date ? toDaySql(date) : 'null::timestamptz'} as dated_on, sum(added) as added
   from (${rows}) counted group by 1, 2, 3, 4, 5, 6, 7 having sum(added) <> 0`;

/**
 * Returns SQL that adds up changes by each combination of project or parent and kind, with `*` for those that are summed over. By project
 * and parent at once there would be as many totals as rows.
 */
function rollUp(changes: string): string {
  const column = (name: string) => `case when grouping(${name}) = 1 then '*' else ${name} end as ${name}`;
  const isCounted = (name: string) => `(grouping(${name}) = 1 or ${name} is not null)`;
  return `select list, builder_id, ${column('project_id')}, ${column('parent_id')}, ${column('kind')}, created_on, dated_on,
      sum(added) as added from (${changes}) changes
    group by list, builder_id, created_on, dated_on, cube (project_id, parent_id, kind)
    having sum(added) <> 0 and ${isCounted('project_id')} and ${isCounted('parent_id')}
      and (grouping(project_id) = 1 or grouping(parent_id) = 1)`;
}
