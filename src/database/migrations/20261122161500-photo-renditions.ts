import { Migration } from '@mikro-orm/migrations';

const TRIGGERS = {
  insert: 'referencing new table as changed for each statement',
  update: 'for each row when (old.key is distinct from new.key)',
};

/** Adds the state of the renditions of photos, and the triggers that queue new photos. `renditions backfill` renders earlier ones. */
export class Migration20261122161500PhotoRenditions extends Migration {
  override name = 'Migration20261122161500PhotoRenditions';

  override up(): void {
    this.addSql(
      `create table "photo_rendition" ("photo_id" text not null, "share_key" text not null, "status" text not null default 'PENDING', "width" int null, "height" int null, "problem" text null, "attempts" int not null default 0, "claimed_until" timestamptz(3) null, "created_at" timestamptz(3) not null default clock_timestamp(), primary key ("photo_id"));`,
    );
    this.addSql(
      `create index "photo_rendition_share_key_created_at_photo_id_index" on "photo_rendition" ("share_key", "created_at", "photo_id") where status = 'PENDING';`,
    );
    this.addSql(
      `alter table "photo_rendition" add constraint "photo_rendition_status_check" check ("status" in ('PENDING', 'READY', 'FAILED'));`,
    );
    this.addSql(
      `alter table "photo_rendition" add constraint "photo_rendition_photo_id_foreign" foreign key ("photo_id") references "photo" ("id") on update no action on delete cascade;`,
    );
    this.addSql(`create function "photo_rendition_queue"() returns trigger language plpgsql set search_path = '' as $$
        begin
          if tg_op = 'INSERT' then
            insert into public.photo_rendition (photo_id, share_key) select id, coalesce(integrator_id, builder_id) from changed;
          else
            insert into public.photo_rendition (photo_id, share_key) values (new.id, coalesce(new.integrator_id, new.builder_id))
              on conflict (photo_id) do update set status = 'PENDING', width = null, height = null, problem = null, attempts = 0,
                claimed_until = null, created_at = excluded.created_at;
          end if;
          return null;
        end $$;`);
    for (const [event, scope] of Object.entries(TRIGGERS)) {
      this.addSql(
        `create trigger "photo_rendition_${event}" after ${event} on "photo" ${scope} execute function "photo_rendition_queue"();`,
      );
    }
  }

  override down(): void {
    for (const event of Object.keys(TRIGGERS)) {
      this.addSql(`drop trigger if exists "photo_rendition_${event}" on "photo";`);
    }
    this.addSql(`drop function if exists "photo_rendition_queue"();`);
    this.addSql(`drop table if exists "photo_rendition";`);
  }
}
