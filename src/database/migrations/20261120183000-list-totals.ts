import { Migration } from '@mikro-orm/migrations';

const LISTS = [
  { table: 'photo', kind: 'source', active: 'archived_at is null' },
  { table: 'timesheet', kind: 'status', active: 'true' },
];

const EVENTS = ['insert', 'delete', 'update'];

/** Counters of large lists, which triggers maintain. The next migration counts the existing rows. */
export class Migration20261120183000ListTotals extends Migration {
  override name = 'Migration20261120183000ListTotals';

  /** The next migration computes it from the rows. */
  readonly derivedTables = ['list_total'];

  override up(): void {
    this.addSql(
      `create table "list_total" ("id" bigserial primary key, "list" text not null, "builder_id" text not null, "project_id" text null, "kind" text not null, "added" int not null);`,
    );
    this.addSql(
      `create index "list_total_project_id_list_kind_index" on "list_total" ("project_id", "list", "kind") include ("added");`,
    );
    this.addSql(
      `create index "list_total_builder_id_list_project_id_kind_index" on "list_total" ("builder_id", "list", "project_id", "kind") include ("added");`,
    );
    for (const { table, kind, active } of LISTS) {
      const columns = ['builder_id', 'project_id', kind, ...(active === 'true' ? [] : [active])];
      const key = (row: string) => `(${columns.map((column) => `${row}.${column}`).join(', ')})`;
      const changed = (count: string) => `
            insert into list_total (list, builder_id, project_id, kind, added)
              select '${table}', builder_id, project_id, ${kind}, ${count} from changed where ${active}
              group by builder_id, project_id, ${kind};`;
      this.addSql(`create function "${table}_total"() returns trigger language plpgsql as $$
        begin
          if tg_op = 'INSERT' then ${changed('count(*)')}
          elsif tg_op = 'DELETE' then ${changed('-count(*)')}
          else
            insert into list_total (list, builder_id, project_id, kind, added)
              select '${table}', (version).builder_id, (version).project_id, (version).${kind}, added
              from (values (old, -1), (new, 1)) versions (version, added) where ${active.replace(/^archived_at/, '(version).archived_at')};
          end if;
          return null;
        end $$;`);
      this.addSql(
        `create trigger "${table}_total_insert" after insert on "${table}" referencing new table as changed for each statement execute function "${table}_total"();`,
      );
      this.addSql(
        `create trigger "${table}_total_delete" after delete on "${table}" referencing old table as changed for each statement execute function "${table}_total"();`,
      );
      this.addSql(
        `create trigger "${table}_total_update" after update on "${table}" for each row when (${key('old')} is distinct from ${key('new')}) execute function "${table}_total"();`,
      );
      // Bulk loads run with `session_replication_role = replica`, which skips foreign keys but must not skip counting.
      for (const event of EVENTS) {
        this.addSql(`alter table "${table}" enable always trigger "${table}_total_${event}";`);
      }
    }
  }

  override down(): void {
    for (const { table } of LISTS) {
      for (const event of EVENTS) {
        this.addSql(`drop trigger if exists "${table}_total_${event}" on "${table}";`);
      }
      this.addSql(`drop function if exists "${table}_total"();`);
    }
    this.addSql(`drop table if exists "list_total";`);
  }
}
