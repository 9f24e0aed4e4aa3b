import { Migration } from '@mikro-orm/migrations';

const LISTS = [
  {
    table: 'photo',
    kind: 'source',
    project: 'project_id',
    parent: 'folder_id',
    date: null,
    active: 'archived_at is null',
  },
  { table: 'timesheet', kind: 'status', project: 'project_id', parent: null, date: 'date', active: 'true' },
  { table: 'meeting', kind: 'status', project: 'project_id', parent: null, date: 'date', active: 'true' },
  { table: 'defect', kind: 'status', project: 'project_id', parent: null, date: null, active: 'true' },
  { table: 'induction', kind: 'status', project: 'project_id', parent: 'subcontractor_id', date: null, active: 'true' },
  {
    table: 'subcontractor',
    kind: 'is_builder::text',
    project: 'null::text',
    parent: null,
    date: null,
    active: 'archived_at is null',
  },
];

const KEY = 'list, builder_id, project_id, parent_id, kind, created_on, dated_on';

const dayOf = (column: string) => `date_trunc('day', ${column}, 'UTC')`;
const column = (name: string) => `case when grouping(${name}) = 1 then '*' else ${name} end as ${name}`;

/**
 * Counts the existing rows. It blocks no reader or writer: each statement adds the difference of rows and totals in one snapshot, because
 * the triggers count already. An interrupted migration can be run again.
 */
export class Migration20261122180100DayTotalsOfRows extends Migration {
  override name = 'Migration20261122180100DayTotalsOfRows';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const { table, kind, project, parent, date, active } of LISTS) {
      this.addSql(`insert into list_total (list, builder_id, project_id, kind, added)
        select '${table}', builder_id, project_id, kind, sum(added) from (
          select builder_id, ${project} as project_id, ${kind} as kind, count(*) as added from "${table}" where ${active} group by 1, 2, 3
          union all select builder_id, project_id, kind, -added from list_total where list = '${table}') counted
        group by builder_id, project_id, kind having sum(added) <> 0;`);
      this.addSql(`insert into list_day_total as t (${KEY}, added)
        select ${KEY}, sum(added) from (
          select list, builder_id, ${['project_id', 'parent_id', 'kind'].map(column).join(', ')}, created_on, dated_on, sum(added) as added
          from (
            select '${table}' as list, builder_id, ${project} as project_id, ${parent ?? 'null::text'} as parent_id, ${kind} as kind,
              ${dayOf('created_at')} as created_on, ${date ? dayOf(date) : 'null::timestamptz'} as dated_on, count(*) as added
            from "${table}" where ${active} group by 1, 2, 3, 4, 5, 6, 7
            union all select ${KEY}, -added from list_day_change where list = '${table}') counted
          group by list, builder_id, created_on, dated_on, cube (project_id, parent_id, kind)
          having (grouping(project_id) = 1 or project_id is not null) and (grouping(parent_id) = 1 or parent_id is not null)
            and (grouping(project_id) = 1 or grouping(parent_id) = 1)
          union all select ${KEY}, -added from list_day_total where list = '${table}') compared
        group by ${KEY} having sum(added) <> 0
        on conflict (builder_id, list, project_id, parent_id, kind, dated_on, created_on) do update set added = t.added + excluded.added;`);
    }
  }

  override down(): void {}
}
