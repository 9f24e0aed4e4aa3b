import { Migration } from '@mikro-orm/migrations';

const LISTS = [
  { table: 'photo', kind: 'source', parent: 'folder_id', date: null, active: 'archived_at is null', isNew: false },
  { table: 'timesheet', kind: 'status', parent: null, date: 'date', active: 'true', isNew: false },
  { table: 'meeting', kind: 'status', parent: null, date: 'date', active: 'true', isNew: true },
  { table: 'defect', kind: 'status', parent: null, date: null, active: 'true', isNew: true },
  { table: 'induction', kind: 'status', parent: 'subcontractor_id', date: null, active: 'true', isNew: true },
  { table: 'subcontractor', kind: 'is_builder', parent: null, date: null, active: 'archived_at is null', isNew: true },
];

type List = (typeof LISTS)[number];

const SCOPES = {
  insert: 'referencing new table as changed for each statement',
  delete: 'referencing old table as changed for each statement',
};

const COLUMNS = `"id" bigserial primary key, "list" text not null, "builder_id" text not null, "project_id" text null, "parent_id" text null, "kind" text not null, "created_on" timestamptz(3) not null, "dated_on" timestamptz(3) null, "added" int not null`;

const dayOf = (column: string) => `date_trunc('day', ${column}, 'UTC')`;

/** Returns the columns of a total by day over a row. */
const columnsOf = ({ table, kind, parent, date }: List, row = '') =>
  [
    ...[`${row}builder_id`, table === 'subcontractor' ? 'null::text' : `${row}project_id`],
    ...[parent ? row + parent : 'null::text', `${row}${kind}${kind === 'is_builder' ? '::text' : ''}`],
    ...[dayOf(`${row}created_at`), date ? dayOf(row + date) : 'null::timestamptz'],
  ].join(', ');

/** Adds totals by day, and totals of meetings, defects, inductions and subcontractors. The next migration counts the existing rows. */
export class Migration20261122180000DayTotals extends Migration {
  override name = 'Migration20261122180000DayTotals';

  /** The next migration computes them from the rows. */
  readonly derivedTables = ['list_day_change', 'list_day_total', 'list_total'];

  override up(): void {
    this.addSql(`create table "list_day_change" (${COLUMNS});`);
    this.addSql(`create index "list_day_change_builder_id_list_index" on "list_day_change" ("builder_id", "list");`);
    this.addSql(`create table "list_day_total" (${COLUMNS});`);
    this.addSql(`create index "list_day_total_list_index" on "list_day_total" ("list") where added = 0;`);
    this.addSql(
      `create unique index "list_day_total_key" on "list_day_total" ("builder_id", "list", "project_id", "parent_id", "kind", "dated_on", "created_on") include ("added") nulls not distinct;`,
    );
    for (const list of LISTS) {
      this.#createFunction(list);
      if (list.isNew) this.#createTriggers(list);
      this.#replaceUpdateTrigger(list, this.#keyByDay(list));
    }
  }

  override down(): void {
    for (const list of LISTS) {
      const { table, kind, active } = list;
      if (list.isNew) {
        for (const event of ['insert', 'delete', 'update'])
          this.addSql(`drop trigger "${table}_total_${event}" on "${table}";`);
        this.addSql(`drop function public."${table}_total"();`);
        this.addSql(`delete from "list_total" where list = '${table}';`);
      } else {
        const columns = ['builder_id', 'project_id', kind, ...(active === 'true' ? [] : [active])];
        this.#replaceUpdateTrigger(list, (row) => `(${columns.map((column) => `${row}.${column}`).join(', ')})`);
        this.#createEarlierFunction(list);
      }
    }
    this.addSql(`drop table "list_day_change";`);
    this.addSql(`drop table "list_day_total";`);
  }

  #createTriggers({ table }: List): void {
    for (const [event, scope] of Object.entries(SCOPES)) {
      this.addSql(
        `create trigger "${table}_total_${event}" after ${event} on "${table}" ${scope} execute function "${table}_total"();`,
      );
    }
  }

  #keyByDay(list: List) {
    const active = list.active === 'true' ? '' : `, ROW.${list.active}`;
    const columns = columnsOf(list, 'ROW.').replace(/, null::\w+|::text/g, '') + active;
    return (row: string) => `(${columns.replaceAll('ROW', row)})`;
  }

  /** An update that changes no total executes nothing. */
  #replaceUpdateTrigger({ table }: List, key: (row: string) => string): void {
    this.addSql(
      `create or replace trigger "${table}_total_update" after update on "${table}" for each row when (${key('old')} is distinct from ${key('new')}) execute function "${table}_total"();`,
    );
  }

  /** The totals are sums of the changes by day. */
  #createFunction(list: List): void {
    const { table, active } = list;
    const append = (rows: string) => `
          with days as (
            insert into public.list_day_change (list, builder_id, project_id, parent_id, kind, created_on, dated_on, added)
              ${rows} returning list, builder_id, project_id, kind, added)
          insert into public.list_total (list, builder_id, project_id, kind, added)
            select list, builder_id, project_id, kind, sum(added) from days group by list, builder_id, project_id, kind;`;
    const count = (added: string) =>
      append(
        `select '${table}', ${columnsOf(list)}, ${added} from changed where ${active} group by ${columnsOf(list)}`,
      );
    this.addSql(`create or replace function public."${table}_total"() returns trigger language plpgsql set search_path = '' as $$
      begin
        if tg_op = 'INSERT' then
          ${count('count(*)')}
        elsif tg_op = 'DELETE' then
          ${count('-count(*)')}
        else
          ${append(`select '${table}', ${columnsOf(list, '(version).')}, added
              from (values (old, -1), (new, 1)) versions (version, added) where ${active.replace('archived_at', '(version).archived_at')}`)}
        end if;
        return null;
      end $$;`);
  }

  /** The function of the migration before. */
  #createEarlierFunction({ table, kind, active }: List): void {
    const insert = `insert into public.list_total (list, builder_id, project_id, kind, added)`;
    const count = (added: string) => `${insert}
          select '${table}', builder_id, project_id, ${kind}, ${added} from changed where ${active}
          group by builder_id, project_id, ${kind};`;
    this.addSql(`create or replace function public."${table}_total"() returns trigger language plpgsql set search_path = '' as $$
      begin
        if tg_op = 'INSERT' then
          ${count('count(*)')}
        elsif tg_op = 'DELETE' then
          ${count('-count(*)')}
        else
          ${insert}
            select '${table}', (version).builder_id, (version).project_id, (version).${kind}, added
            from (values (old, -1), (new, 1)) versions (version, added) where ${active.replace('archived_at', '(version).archived_at')};
        end if;
        return null;
      end $$;`);
  }
}
