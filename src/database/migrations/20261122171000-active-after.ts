import { Migration } from '@mikro-orm/migrations';

/** Keeps where the event log was when a connection was made active again. */
export class Migration20261122171000ActiveAfter extends Migration {
  override name = 'Migration20261122171000ActiveAfter';

  override up(): void {
    this.addSql(`alter table "connection" add "active_after" bigint null;`);
    this.addSql(`create function public.set_active_after() returns trigger language plpgsql set search_path = '' as $$
      begin
        new.active_after := (select last_number from public.event_log);
        return new;
      end $$;`);
    this.addSql(`create trigger "connection_active_after" before update on "connection" for each row
      when (old.status <> 'ACTIVE' and new.status = 'ACTIVE') execute function public.set_active_after();`);
  }

  override down(): void {
    this.addSql(`drop trigger "connection_active_after" on "connection";`);
    this.addSql(`drop function public.set_active_after();`);
    this.addSql(`alter table "connection" drop column "active_after";`);
  }
}
