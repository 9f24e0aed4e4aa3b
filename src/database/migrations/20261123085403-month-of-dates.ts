import { Migration } from '@mikro-orm/migrations';

const KEY = 'list, builder_id, project_id, parent_id, kind';

/** Columns that the totals of months are divided by, and their values of the totals by day, before this migration and after it. */
const BEFORE = {
  columns: 'created_in',
  values: `date_trunc('month', created_on, 'UTC')`,
  days: 'created_on',
  positions: '1, 2, 3, 4, 5, 6',
};
const AFTER = {
  columns: 'created_in, dated_in',
  values: `${BEFORE.values}, date_trunc('month', dated_on, 'UTC')`,
  days: 'created_on, dated_on',
  positions: '1, 2, 3, 4, 5, 6, 7',
};

/** Rows by which each kind of statement changes the totals by day. */
const CHANGES = {
  insert: (days: string) => `select ${KEY}, ${days}, added from changed`,
  update: (days: string) =>
    `select ${KEY}, ${days}, -added as added from former union all select ${KEY}, ${days}, added from changed`,
  delete: (days: string) => `select ${KEY}, ${days}, -added as added from former`,
};

/**
 * Divides the totals by month by the month of the date, too. The totals by day are locked against writes while they are added up, and those by
 * month against reads.
 */
export class Migration20261123085403MonthOfDates extends Migration {
  override name = 'Migration20261123085403MonthOfDates';

  /** Added up from `list_day_total`. */
  readonly derivedTables = ['list_month_total'];

  override up(): void {
    this.#lock();
    this.addSql(`alter table "list_month_total" add "dated_in" timestamptz(3) null;`);
    this.#addUp(AFTER);
  }

  override down(): void {
    this.#lock();
    this.addSql(`alter table "list_month_total" drop column "dated_in";`);
    this.#addUp(BEFORE);
  }

  #lock(): void {
    this.addSql(`lock table "list_day_total" in share row exclusive mode;`);
    this.addSql(`lock table "list_month_total" in access exclusive mode;`);
    this.addSql(`truncate "list_month_total";`);
    this.addSql(`drop index if exists "list_month_total_key";`);
  }

  #addUp({ columns, values, days, positions }: typeof AFTER): void {
    const select = (rows: string) => `select ${KEY}, ${values}, sum(added) from ${rows}
      group by ${positions} having sum(added) <> 0`;
    for (const [event, changes] of Object.entries(CHANGES)) {
      this.addSql(`create or replace function public."list_day_total_month_${event}"() returns trigger language plpgsql set search_path = '' as $$  begin
    insert into public.list_month_total as total (${KEY}, ${columns}, added)
      ${select(`(${changes(days)}) changes`)} order by ${positions}
      on conflict (builder_id, list, project_id, parent_id, kind, ${columns}) do update set added = total.added + excluded.added;     return null;   end $$;`);
    }
    this.addSql(`insert into "list_month_total" (${KEY}, ${columns}, added) ${select('"list_day_total"')};`);
    this.addSql(`create unique index "list_month_total_key" on "list_month_total"
    ("builder_id", "list", "project_id", "parent_id", "kind", ${columns.replace(/\w+/g, '"$&"')}) include ("added") nulls not distinct;`);
  }
}
