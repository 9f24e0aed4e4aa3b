import { Migration } from '@mikro-orm/migrations';

/**
 * Adds totals by month, and columns to the index of meetings by date. The triggers lock the totals by day until the existing ones are added
 * up. Meetings are locked last, while their index is built.
 */
export class Migration20261123064819TotalsByMonth extends Migration {
  override name = 'Migration20261123064819TotalsByMonth';

  /** Added up from `list_day_total`. */
  readonly derivedTables = ['list_month_total'];

  override up(): void {
    this.addSql(
      `create table "list_month_total" ("id" bigserial primary key, "list" text not null, "builder_id" text not null, "project_id" text null, "parent_id" text null, "kind" text not null, "added" int not null, "created_in" timestamptz(3) not null);`,
    );
    this.addSql(`create index "list_month_total_list_index" on "list_month_total" ("list") where added = 0;`);
    this.addSql(`create unique index "list_month_total_key" on "list_month_total"
    ("builder_id", "list", "project_id", "parent_id", "kind", "created_in") include ("added") nulls not distinct;`);
    this.addSql(`create or replace function public."list_day_total_month_insert"() returns trigger language plpgsql set search_path = '' as $$  begin
    insert into public.list_month_total as total (list, builder_id, project_id, parent_id, kind, created_in, added)
      select list, builder_id, project_id, parent_id, kind, date_trunc('month', created_on, 'UTC'), sum(added) from (select list, builder_id, project_id, parent_id, kind, created_on, added from changed) changes group by 1, 2, 3, 4, 5, 6 having sum(added) <> 0
      order by 1, 2, 3, 4, 5, 6
      on conflict (builder_id, list, project_id, parent_id, kind, created_in) do update set added = total.added + excluded.added;     return null;   end $$;`);
    this.addSql(
      `create trigger "list_day_total_month_insert" after insert on "list_day_total" referencing new table as changed for each statement execute function public."list_day_total_month_insert"();`,
    );
    this.addSql(`create or replace function public."list_day_total_month_update"() returns trigger language plpgsql set search_path = '' as $$  begin
    insert into public.list_month_total as total (list, builder_id, project_id, parent_id, kind, created_in, added)
      select list, builder_id, project_id, parent_id, kind, date_trunc('month', created_on, 'UTC'), sum(added) from (select list, builder_id, project_id, parent_id, kind, created_on, -added as added from former union all select list, builder_id, project_id, parent_id, kind, created_on, added from changed) changes group by 1, 2, 3, 4, 5, 6 having sum(added) <> 0
      order by 1, 2, 3, 4, 5, 6
      on conflict (builder_id, list, project_id, parent_id, kind, created_in) do update set added = total.added + excluded.added;     return null;   end $$;`);
    this.addSql(
      `create trigger "list_day_total_month_update" after update on "list_day_total" referencing old table as former new table as changed for each statement execute function public."list_day_total_month_update"();`,
    );
    this.addSql(`create or replace function public."list_day_total_month_delete"() returns trigger language plpgsql set search_path = '' as $$  begin
    insert into public.list_month_total as total (list, builder_id, project_id, parent_id, kind, created_in, added)
      select list, builder_id, project_id, parent_id, kind, date_trunc('month', created_on, 'UTC'), sum(added) from (select list, builder_id, project_id, parent_id, kind, created_on, -added as added from former) changes group by 1, 2, 3, 4, 5, 6 having sum(added) <> 0
      order by 1, 2, 3, 4, 5, 6
      on conflict (builder_id, list, project_id, parent_id, kind, created_in) do update set added = total.added + excluded.added;     return null;   end $$;`);
    this.addSql(
      `create trigger "list_day_total_month_delete" after delete on "list_day_total" referencing old table as former for each statement execute function public."list_day_total_month_delete"();`,
    );
    this.addSql(`alter table "list_month_total" set (autovacuum_vacuum_scale_factor = 0.01);`);
    this.addSql(`insert into "list_month_total" (list, builder_id, project_id, parent_id, kind, created_in, added)
      select list, builder_id, project_id, parent_id, kind, date_trunc('month', created_on, 'UTC'), sum(added)
      from "list_day_total" group by 1, 2, 3, 4, 5, 6 having sum(added) <> 0;`);
    this.addSql(`lock table "meeting" in access exclusive mode;`);
    this.addSql(`drop index "meeting_builder_id_date_index";`);
    this.addSql(
      `create index "meeting_builder_id_date_index" on "meeting" ("builder_id", "date") include ("project_id", "status", "created_at");`,
    );
  }

  override down(): void {
    this.addSql(`lock table "meeting" in access exclusive mode;`);
    this.addSql(`drop index "meeting_builder_id_date_index";`);
    this.addSql(`create index "meeting_builder_id_date_index" on "meeting" ("builder_id", "date");`);
    for (const event of ['insert', 'update', 'delete']) {
      this.addSql(`drop trigger "list_day_total_month_${event}" on "list_day_total";`);
      this.addSql(`drop function public."list_day_total_month_${event}"();`);
    }
    this.addSql(`drop table "list_month_total";`);
  }
}
